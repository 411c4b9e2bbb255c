// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

namespace iio_stream::file {

/// Throws a storage Error where so many bytes are not free beside `path`: better now than later.
void check_room(const std::string& path, std::uint64_t bytes);

/// Bytes that a file can still take of which so many were given: until its file system is full, or
/// it has the size that this process' files may have.
std::uint64_t room_of(const std::string& path, std::uint64_t given) noexcept;

} // namespace iio_stream::file
