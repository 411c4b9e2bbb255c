// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace iio_stream::sys {

/// Whether files can be read and written without the page cache, and the alignment that O_DIRECT
/// requires.
struct DirectIo {
    std::size_t memory_align = 0;
    std::size_t offset_align = 0; ///< of file offsets and lengths
    std::string refusal;          ///< why it is not possible; "" if it is
    bool possible() const noexcept { return refusal.empty(); }
};

/// Returns the properties of the regular file `path`, or of a file that would be created there.
/// They come from statx() (STATX_DIOALIGN, since Linux 6.1) or, on older kernels, from a list of
/// known file systems. A successful open() with O_DIRECT proves nothing, because tmpfs accepts the
/// flag and copies.
DirectIo direct_io_at(const std::string& path);

/// Returns the free bytes on the file system of a file, or of its folder if the file does not
/// exist; SIZE_MAX if unknown.
std::uint64_t free_space(const std::string& path) noexcept;

/// Reserves a range of a file and extends the file to the end of the range. Returns 0 or the errno.
int allocate_file(int fd, std::uint64_t offset, std::uint64_t bytes) noexcept;

} // namespace iio_stream::sys
