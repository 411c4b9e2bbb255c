// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

namespace iio_stream::file {

/// Copies the bytes of a file that begin at `begin` into the new file NAME.tail next to it. Syncs
/// the copy and returns its name. Returns "" if the bytes are only zeros and holes.
std::string keep_tail(int fd, const std::string& path, std::uint64_t begin);

/// Writes the text of a metadata file to a new file next to it, NAME.bak, and returns the new name.
std::string keep_backup(const std::string& path, const std::string& text);

} // namespace iio_stream::file
