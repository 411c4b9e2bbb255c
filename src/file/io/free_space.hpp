// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

namespace iio_stream::file {

/// Throws a storage Error if the file system of `path` has fewer than `bytes` free.
void require_free_space(const std::string& path, std::uint64_t bytes);

/// Bytes that a file can still take after `given` bytes, until its file system is full or the file
/// reaches the process' file size limit.
std::uint64_t free_space_left(const std::string& path, std::uint64_t given) noexcept;

} // namespace iio_stream::file
