// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace iio_stream::sys {

enum class Existing { refused, replaced };

/// Makes a file whole and durable at once: whoever looks sees the old one (or none) or the new one,
/// also after a power cut. `refused`: throws EEXIST where there is something of that name, be it a
/// link that leads nowhere. Throws "OPERATION PATH: …".
void publish_file(const std::string& path, const std::string& text, Existing existing);

/// Reads a regular file whole, as read_text(); never waits for one that is none, and throws EINVAL.
std::optional<std::string> read_whole(const std::string& path);

/// Takes the disk's space for a publish_file() that must not fail for want of it, as far as that is
/// possible; and gives it back.
void reserve_publish(const std::string& path) noexcept;
void release_publish(const std::string& path) noexcept;

/// Where a file's first hole begins (what was reserved but never written is one), or its size.
std::uint64_t first_hole(int fd, const std::string& path);

/// fsync(): all of a file has reached the disk, its size too.
void sync_file(int fd, const std::string& path);

} // namespace iio_stream::sys
