// SPDX-License-Identifier: MIT
#pragma once

#include "archive/s3/bucket.hpp"

namespace iio_stream::archive {

/// The result of an upload: the bytes that it has sent, and those that an interrupted upload had
/// sent before.
struct Sent {
    std::uint64_t bytes = 0, resumed = 0;
    Object stored{}; ///< as the store has confirmed it
};

/// Stores a file under `key`, in pieces if it is large, and checks that the store has all of it: by
/// the ETag in the store's answer or, if that is not the MD5, by another request. `before` is the
/// object that is stored there now; the upload replaces it. Throws an Error if the stored object
/// differs (EBADMSG), if the file gets shorter meanwhile (EBADMSG), or if another object was stored
/// there meanwhile (EEXIST, from stores that support conditions).
Sent upload(Bucket& bucket, const std::string& path, const std::string& key,
            const std::optional<Object>& before);

/// Like upload(), for a short text.
Sent upload_text(Bucket& bucket, const std::string& text, const std::string& key,
                 const std::optional<Object>& before);
bool is_text(Bucket& bucket, const std::string& text, const std::string& key, const Object& object);

/// Returns whether the object `key` has the same content as the file. Reads the file and, unless
/// its MD5 equals the ETag, also the object.
bool is_stored(Bucket& bucket, const std::string& path, const std::string& key,
               const Object& object);

} // namespace iio_stream::archive
