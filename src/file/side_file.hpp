// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

namespace iio_stream::file {

/// Copies the content of a file from `begin` on to a new file next to it, NAME.tail, syncs the copy
/// and returns its name. Returns "" if there are only zeros and holes.
std::string keep_tail(int fd, const std::string& path, std::uint64_t begin);

/// Writes the text of a metadata file to a new file next to it, NAME.bak, and returns the new name.
std::string keep_backup(const std::string& path, const std::string& text);

} // namespace iio_stream::file
