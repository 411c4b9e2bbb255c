// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <sys/stat.h>

namespace iio_stream::file {

/// Identity of a file (device, inode, size, mtime, ctime). It shows whether the file has been
/// replaced or modified since the object was created.
class FileIdentity {
public:
    /// Throws an Error if `path` is not a regular file. Symlinks are rejected: they may point
    /// outside the folder.
    explicit FileIdentity(std::string path);

    const std::string& path() const noexcept { return path_; }
    /// Time of the last modification in nanoseconds since 1970 (UTC).
    std::int64_t modified_ns() const noexcept
    {
        return status_.st_mtim.tv_sec * 1'000'000'000 + status_.st_mtim.tv_nsec;
    }
    std::uint64_t size() const noexcept { return static_cast<std::uint64_t>(status_.st_size); }
    /// False once the file has been replaced, modified or removed.
    bool is_unchanged() const noexcept;
    /// Like is_unchanged(), but ignores the ctime: a new link, owner or mode does not count as a
    /// change.
    bool is_same_content() const noexcept;

private:
    std::string path_;
    struct stat status_ {};
};

} // namespace iio_stream::file
