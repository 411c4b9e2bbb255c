// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <sys/stat.h>

namespace iio_stream::file {

/// Identity of a file (device, inode, size, mtime, ctime). It shows whether the file was replaced
/// or modified since.
class FileIdentity {
public:
    /// Throws an Error if `path` is not a regular file. Symlinks are rejected: they may point
    /// outside the folder.
    explicit FileIdentity(std::string path);

    const std::string& path() const noexcept { return path_; }
    /// UTC since 1970.
    std::int64_t modified_ns() const noexcept
    {
        return status_.st_mtim.tv_sec * 1'000'000'000 + status_.st_mtim.tv_nsec;
    }
    std::uint64_t size() const noexcept { return static_cast<std::uint64_t>(status_.st_size); }
    /// False once the file was replaced, modified or removed.
    bool is_unchanged() const noexcept;
    /// The same, but the file may have got another name, owner or mode meanwhile.
    bool is_same_content() const noexcept;

private:
    std::string path_;
    struct stat status_ {};
};

} // namespace iio_stream::file
