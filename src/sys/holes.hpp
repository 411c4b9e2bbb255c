// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace iio_stream::sys {

/// Puts a file's data on the disk and forgets the pages that were read of it: of room that was
/// reserved and then read, by whomever, the kernel says that it is data.
void forget_pages(int fd, const std::string& path);

/// A part of a file that has been written.
struct Extent {
    std::uint64_t begin = 0, end = 0;
};

/// The first such part that ends behind `from`, or what is left of it; nullopt where none is. Where
/// the file system knows no holes that is all of the file.
std::optional<Extent> next_data(int fd, const std::string& path, std::uint64_t from);

/// Whether the file system of `path` tells what was reserved or left out from what was written
/// (ext4, XFS, Btrfs, tmpfs do; FAT does not).
bool reports_holes(const std::string& path) noexcept;

} // namespace iio_stream::sys
