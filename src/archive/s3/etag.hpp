// SPDX-License-Identifier: MIT
#pragma once

#include "archive/s3/bucket.hpp"

#include <vector>

namespace iio_stream::archive {

/// Computes an ETag as S3 does: the MD5 of an object in one piece or, for several pieces, the MD5
/// of the pieces' MD5 sums, followed by the number of pieces.
std::string etag_of(const std::vector<Md5>& pieces);

/// Describes how the MD5 of an object differs from its ETag; "" if the two are equal, or if the
/// ETag is not an MD5.
std::string etag_difference(const Object& object, const Md5& md5);

/// Returns a Checksum that compares an object's bytes with its ETag. Returns nullptr if the object
/// does not exist, if its ETag is not made of MD5 sums, or if the store does not report the size of
/// its pieces.
std::unique_ptr<Checksum> etag_checksum(Bucket& bucket, const std::string& key);

} // namespace iio_stream::archive
