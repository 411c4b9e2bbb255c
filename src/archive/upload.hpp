// SPDX-License-Identifier: MIT
#pragma once

#include "archive/bucket.hpp"

namespace iio_stream::archive {

/// What an upload has sent, and what it found there.
struct Sent {
    std::uint64_t bytes = 0, resumed = 0;
};

/// Stores a file under `key`, in pieces if it is large, and has the store confirm it. Throws an Error if what is
/// stored differs (EBADMSG), or if the file changes meanwhile.
Sent upload(Bucket& bucket, const std::string& path, const std::string& key);

/// Whether the store has under `key` what the file holds. Reads the file, and where the store keeps no MD5 the object.
bool is_stored(Bucket& bucket, const std::string& path, const std::string& key, const Object& object);

} // namespace iio_stream::archive
