// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

namespace iio_stream::file {

/// Copies what a file holds from `begin` on into a new one beside it, NAME.tail, and returns that
/// one's name; "" where there is nothing but zeros and holes. It is on the disk then.
std::string keep_tail(int fd, const std::string& path, std::uint64_t begin);

/// Keeps a metadata file's text in a new file beside it, NAME.bak, and returns that one's name.
std::string keep_backup(const std::string& path, const std::string& text);

} // namespace iio_stream::file
