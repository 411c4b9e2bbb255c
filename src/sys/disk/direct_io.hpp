// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace iio_stream::sys {

/// Whether files can be read and written past the page cache, and the alignment O_DIRECT requires.
struct DirectIo {
    std::size_t memory_align = 0;
    std::size_t offset_align = 0; ///< of file offsets and lengths
    std::string refusal;          ///< why not; "" if it can be done
    bool possible() const noexcept { return refusal.empty(); }
};

/// For the regular file `path`, or one that would be created there. Asks statx() (STATX_DIOALIGN,
/// since Linux 6.1) or, on older kernels, a list of known file systems: an open() with O_DIRECT
/// proves nothing, as tmpfs accepts it and copies.
DirectIo direct_io_at(const std::string& path);

/// Bytes free on the file system of a file, or of its folder if there is no such file; SIZE_MAX =
/// unknown.
std::uint64_t free_space(const std::string& path) noexcept;

/// Reserves a range of a file and extends the file to its end. 0, or the errno.
int allocate_file(int fd, std::uint64_t offset, std::uint64_t bytes) noexcept;

} // namespace iio_stream::sys
