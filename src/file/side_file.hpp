// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

namespace iio_stream::file {

/// Copies a file's content from `begin` on into a new file next to it, NAME.tail, syncs it and
/// returns its name; "" if there is nothing but zeros and holes.
std::string keep_tail(int fd, const std::string& path, std::uint64_t begin);

/// Keeps a metadata file's text in a new file next to it, NAME.bak, and returns its name.
std::string keep_backup(const std::string& path, const std::string& text);

} // namespace iio_stream::file
