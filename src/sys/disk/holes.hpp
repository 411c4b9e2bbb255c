// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace iio_stream::sys {

/// Writes a file's data to disk and drops its cached pages. This is necessary because the kernel
/// reports reserved space as data after any process has read it.
void forget_pages(int fd, const std::string& path);

/// A range of a file that has been written.
struct Extent {
    std::uint64_t begin = 0, end = 0;
};

/// Returns the first written range that ends after `from`, cut to start at `from` or later; nullopt
/// if there is none. On a file system without holes, the whole file is one range.
std::optional<Extent> next_data(int fd, const std::string& path, std::uint64_t from);

/// Returns whether the file system of `path` can distinguish reserved or skipped space from written
/// data (ext4, XFS, Btrfs and tmpfs can; FAT cannot).
bool reports_holes(const std::string& path) noexcept;

/// Returns whether all bytes are zero. A copy of a file can contain zeros where the original has
/// holes.
bool all_zeros(std::span<const std::byte> bytes) noexcept;

} // namespace iio_stream::sys
