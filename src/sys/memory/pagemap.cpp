// SPDX-License-Identifier: MIT
#include "sys/memory/pagemap.hpp"

#include "sys/unique_fd.hpp"

#include <algorithm>
#include <fcntl.h>
#include <unistd.h>
#include <vector>

namespace iio_stream::sys {

std::optional<std::uint64_t> highest_address(std::span<const std::byte> mapping)
{
    constexpr std::uint64_t kPresent = std::uint64_t{1} << 63,
                            kFrame = (std::uint64_t{1} << 55) - 1;
    const UniqueFd file{::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)};
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    if (!file.valid() || mapping.empty())
        return std::nullopt;
    for (std::size_t at = 0; at < mapping.size(); at += page)
        (void)*static_cast<const volatile std::byte*>(mapping.data() + at);
    const std::size_t pages = (mapping.size() + page - 1) / page;
    std::vector<std::uint64_t> entries(pages);
    const auto bytes = static_cast<ssize_t>(pages * sizeof entries[0]);
    const auto from = reinterpret_cast<std::uintptr_t>(mapping.data()) / page * sizeof entries[0];
    if (::pread(file.get(), entries.data(), static_cast<std::size_t>(bytes),
                static_cast<off_t>(from)) != bytes)
        return std::nullopt;
    std::uint64_t highest = 0;
    for (const std::uint64_t entry : entries) {
        if ((entry & kPresent) == 0 || (entry & kFrame) == 0)
            return std::nullopt; // frame 0: this process has no permission to read it
        highest = std::max(highest, (entry & kFrame) + 1);
    }
    return highest * page;
}

} // namespace iio_stream::sys
