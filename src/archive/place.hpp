// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace iio_stream::archive {

/// Where an archive is.
struct Place {
    std::string bucket, prefix; ///< prefix: "" or ends with a slash
};

/// Of "s3://BUCKET/PREFIX". Throws a usage Error for anything else.
Place place_of(const std::string& archive);

} // namespace iio_stream::archive
