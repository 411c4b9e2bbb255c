// SPDX-License-Identifier: MIT
#include "sys/disk/holes.hpp"

#include "sys/disk/whole_file.hpp"
#include "sys/fail.hpp"
#include "sys/unique_fd.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>

namespace iio_stream::sys {

void forget_pages(int fd, const std::string& path)
{
    sync_file(fd, path); // dirty pages would stay in the cache
    (void)::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
}

std::optional<Extent> next_data(int fd, const std::string& path, std::uint64_t from)
{
    const off_t begin = ::lseek(fd, static_cast<off_t>(from), SEEK_DATA);
    if (begin < 0 && errno == ENXIO)
        return std::nullopt;
    const off_t end = begin < 0 ? begin : ::lseek(fd, begin, SEEK_HOLE);
    if (end < 0)
        fail(errno, "lseek SEEK_DATA", path);
    return Extent{static_cast<std::uint64_t>(begin), static_cast<std::uint64_t>(end)};
}

// Tests an unnamed file in the same folder.
bool reports_holes(const std::string& path) noexcept
{
    constexpr off_t kTrial = 1 << 20;
    try {
        const std::string folder = std::filesystem::path(path).parent_path().string();
        const UniqueFd fd{
            ::open(folder.empty() ? "." : folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)};
        if (!fd.valid())
            return false;
        // Treat the file like a recording: preallocate it if possible, and otherwise only extend
        // it.
        if (::fallocate(fd.get(), 0, 0, kTrial) < 0 && ::ftruncate(fd.get(), kTrial) < 0)
            return false;
        return ::lseek(fd.get(), 0, SEEK_HOLE) == 0;
    } catch (const std::exception&) {
        return false;
    }
}

bool all_zeros(std::span<const std::byte> bytes) noexcept
{
    return std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{}; });
}

} // namespace iio_stream::sys
