// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

namespace iio_stream::file {

/// Throws a storage Error if `path`'s file system has less space free: better now than later.
void check_room(const std::string& path, std::uint64_t bytes);

/// Bytes a file can still take after `given`: until its file system is full, or it reaches the
/// process' file size limit.
std::uint64_t room_of(const std::string& path, std::uint64_t given) noexcept;

} // namespace iio_stream::file
