// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace iio_stream::sys {

/// Writes a file's data to disk and drops its cached pages: once reserved space has been read, by
/// any process, the kernel reports it as data.
void forget_pages(int fd, const std::string& path);

/// A range of a file that has been written.
struct Extent {
    std::uint64_t begin = 0, end = 0;
};

/// The first such range that ends after `from`, cut to start there; nullopt if there is none. On
/// a file system without holes it is the whole file.
std::optional<Extent> next_data(int fd, const std::string& path, std::uint64_t from);

/// Whether the file system of `path` can distinguish reserved or skipped space from data that was
/// written (ext4, XFS, Btrfs, tmpfs can; FAT cannot).
bool reports_holes(const std::string& path) noexcept;

/// What copies may have in place of holes.
bool all_zeros(std::span<const std::byte> bytes) noexcept;

} // namespace iio_stream::sys
