// SPDX-License-Identifier: MIT
#pragma once

#include "archive/s3/bucket.hpp"

#include <vector>

namespace iio_stream::archive {

/// What S3's ETag is made of: the MD5, or for an object in pieces the MD5 of theirs, and how many
/// there are.
std::string etag_of(const std::vector<Md5>& pieces);

/// How the MD5 of all bytes of an object differs from its ETag; "" if it does not, or if the ETag
/// is not the MD5.
std::string etag_difference(const Object& object, const Md5& md5);

/// Compares an object's bytes with its ETag. nullptr if there is no such object, if its ETag is not
/// made of MD5 sums, or if the store does not tell the size of its pieces.
std::unique_ptr<Checksum> etag_checksum(Bucket& bucket, const std::string& key);

} // namespace iio_stream::archive
