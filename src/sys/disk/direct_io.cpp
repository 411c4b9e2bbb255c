// SPDX-License-Identifier: MIT
#include "sys/disk/direct_io.hpp"

#include "sys/unique_fd.hpp"

#include <linux/magic.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>

namespace iio_stream::sys {

namespace {

constexpr std::size_t kSafeAlign = 4096; ///< a page, and the largest sector in use

// The file systems that are assumed to support direct I/O if statx() does not report it; they have
// supported it for years.
constexpr std::array<long, 2> kKnown = {EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC};

std::string folder_of(const std::string& path)
{
    const auto slash = path.rfind('/');
    if (slash == std::string::npos)
        return ".";
    return slash == 0 ? "/" : path.substr(0, slash);
}

DirectIo refused(std::string why)
{
    return {0, 0, std::move(why)};
}

// Opens the file itself if it exists, and otherwise an unnamed file in the same folder.
UniqueFd open_sample(const std::string& path)
{
    UniqueFd fd{::open(path.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC)};
    if (!fd.valid() && errno == EACCES) // the file can still be writable
        fd = UniqueFd{::open(path.c_str(), O_WRONLY | O_DIRECT | O_CLOEXEC)};
    if (!fd.valid() && errno == ENOENT)
        fd = UniqueFd{
            ::open(folder_of(path).c_str(), O_TMPFILE | O_WRONLY | O_DIRECT | O_CLOEXEC, 0600)};
    return fd;
}

} // namespace

DirectIo direct_io_at(const std::string& path)
{
    const UniqueFd fd = open_sample(path);
    if (!fd.valid())
        return refused(errno == EINVAL || errno == EOPNOTSUPP
                           ? "the file system refuses O_DIRECT"
                           : std::string("open with O_DIRECT: ") + std::strerror(errno));
    struct statx status {};
    if (::statx(fd.get(), "", AT_EMPTY_PATH, STATX_TYPE | STATX_DIOALIGN, &status) < 0)
        return refused(std::string("statx: ") + std::strerror(errno));
    if (!S_ISREG(status.stx_mode))
        return refused("it is not a regular file");
    if ((status.stx_mask & STATX_DIOALIGN) != 0) {
        if (status.stx_dio_offset_align == 0)
            return refused("the file system supports no direct I/O on this file");
        return {std::max<std::size_t>(status.stx_dio_mem_align, 1), status.stx_dio_offset_align,
                ""};
    }
    struct statfs system {};
    if (::fstatfs(fd.get(), &system) == 0 &&
        std::find(kKnown.begin(), kKnown.end(), system.f_type) != kKnown.end())
        return {kSafeAlign, kSafeAlign, ""};
    return refused("the file system reports no direct I/O (STATX_DIOALIGN)");
}

std::uint64_t free_space(const std::string& path) noexcept
try {
    struct statvfs status {};
    int result = ::statvfs(path.c_str(), &status);
    if (result < 0 && errno == ENOENT) {
        const std::string folder = std::filesystem::path(path).parent_path().string();
        result = ::statvfs(folder.empty() ? "." : folder.c_str(), &status);
    }
    // A file system without a size, such as ramfs, has no limit.
    if (result < 0 || status.f_blocks == 0)
        return SIZE_MAX;
    return static_cast<std::uint64_t>(status.f_bavail) * status.f_frsize;
} catch (const std::exception&) { // out of memory
    return SIZE_MAX;
}

int allocate_file(int fd, std::uint64_t offset, std::uint64_t bytes) noexcept
{
    int result;
    do
        result = ::fallocate(fd, 0, static_cast<off_t>(offset), static_cast<off_t>(bytes));
    while (result < 0 && errno == EINTR);
    return result < 0 ? errno : 0;
}

} // namespace iio_stream::sys
