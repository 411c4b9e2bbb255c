// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace iio_stream::sys {

/// Whether files can be read and written past the page cache, and what O_DIRECT wants aligned there.
struct DirectIo {
    std::size_t memory_align = 0;
    std::size_t offset_align = 0; ///< of the place in the file, and of lengths
    std::string refusal;          ///< why it cannot be done; "" where it can
    bool possible() const noexcept { return refusal.empty(); }
};

/// Of the regular file `path`, or of one that would be made there. Asks statx() (STATX_DIOALIGN,
/// since Linux 6.1) and, on older kernels, a list of file systems that are known: an open() with
/// O_DIRECT proves nothing, tmpfs accepts it and copies.
DirectIo direct_io_at(const std::string& path);

/// Bytes that may still be written to the file system of a file; SIZE_MAX = unknown.
std::uint64_t free_space(const std::string& path) noexcept;

/// Reserves a part of a file and makes the file as long. 0, or the errno.
int allocate_file(int fd, std::uint64_t offset, std::uint64_t bytes) noexcept;

} // namespace iio_stream::sys
