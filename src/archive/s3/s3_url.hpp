// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace iio_stream::archive {

/// A bucket and the prefix of an archive in it.
struct S3Url {
    std::string bucket, prefix; ///< prefix: "" or ends with a slash
};

/// Parses "s3://BUCKET/PREFIX". Throws a usage Error for anything else.
S3Url parse_s3_url(const std::string& archive);

} // namespace iio_stream::archive
