// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <sys/stat.h>

namespace iio_stream::archive {

/// A file as it was when it was looked at: another one of its name, or one that was written to, is
/// not it.
class Seen {
public:
    /// Throws an Error if it is no regular file; a symbolic link is none: what it points to may be
    /// anywhere.
    explicit Seen(std::string path);

    const std::string& path() const noexcept { return path_; }
    std::int64_t modified() const noexcept
    {
        return status_.st_mtim.tv_sec;
    } ///< seconds, UTC since 1970
    std::uint64_t size() const noexcept { return static_cast<std::uint64_t>(status_.st_size); }
    bool is_unchanged() const noexcept;

private:
    std::string path_;
    struct stat status_ {};
};

} // namespace iio_stream::archive
