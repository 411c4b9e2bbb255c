// SPDX-License-Identifier: MIT
#include "file/io/free_space.hpp"

#include "iio_stream/error.hpp"
#include "iio_stream/units.hpp"
#include "sys/disk/direct_io.hpp"
#include "sys/machine.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>

namespace iio_stream::file {

void require_free_space(const std::string& path, std::uint64_t bytes)
{
    const std::uint64_t free = sys::free_space(path);
    if (bytes > free)
        throw Error(Fault::storage, ENOSPC, "record to", path,
                    format_size(bytes) + " needed, " + format_size(free) + " free");
}

std::uint64_t free_space_left(const std::string& path, std::uint64_t given) noexcept
{
    // Reserved space makes the file longer than the data written to it.
    std::error_code error;
    const std::uint64_t size = std::filesystem::file_size(path, error);
    const std::uint64_t reserved = error || size < given ? 0 : size - given;
    const std::uint64_t free = sys::free_space(path), limit = sys::file_size_limit();
    return std::min(free == SIZE_MAX ? free : free + reserved, limit - std::min(given, limit));
}

} // namespace iio_stream::file
