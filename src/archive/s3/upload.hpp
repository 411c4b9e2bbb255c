// SPDX-License-Identifier: MIT
#pragma once

#include "archive/s3/bucket.hpp"

namespace iio_stream::archive {

/// What an upload has sent, and what it found there.
struct Sent {
    std::uint64_t bytes = 0, resumed = 0;
    Object stored{}; ///< as the store has confirmed it
};

/// Stores a file under `key`, in pieces if it is large, and has the store confirm it. `before` is
/// what is stored there now, which it replaces. Throws an Error if what is stored differs
/// (EBADMSG), if the file gets shorter meanwhile, or if something else was stored there meanwhile
/// (EEXIST, from stores that know conditions).
Sent upload(Bucket& bucket, const std::string& path, const std::string& key,
            const std::optional<Object>& before);

/// The same of a short text.
Sent upload_text(Bucket& bucket, const std::string& text, const std::string& key,
                 const std::optional<Object>& before);
bool is_text(Bucket& bucket, const std::string& text, const std::string& key, const Object& object);

/// Whether the store has under `key` what the file holds. Reads the file, and where the store keeps
/// no MD5 the object.
bool is_stored(Bucket& bucket, const std::string& path, const std::string& key,
               const Object& object);

} // namespace iio_stream::archive
