// SPDX-License-Identifier: MIT
#pragma once

#include "sys/unique_fd.hpp"

#include <optional>
#include <string>
#include <vector>

namespace iio_stream::sys {

/// Opens with O_CLOEXEC; throws "open PATH: …".
UniqueFd open_file(const std::string& path, int flags, unsigned mode = 0);

/// Reads a small file whole, without the trailing newline; nullopt if it does not exist.
std::optional<std::string> read_text(const std::string& path);

/// The number at the start of a small open file, read again; nullopt, with errno, if it cannot be
/// read, and with EINVAL if it is not a number. Allocates nothing.
std::optional<double> read_number(int fd) noexcept;

/// Writes a small file (sysfs, debugfs) in one write(); throws "write PATH: …".
void write_text(const std::string& path, const std::string& text);

void make_directories(const std::string& path);

/// Writes a new file and renames it to `path`: readers see the old one or the new one, never a
/// part.
void replace_file(const std::string& path, const std::string& text);

/// Removes a file or a link, if there is one; throws "unlink PATH: …" if it stays.
void remove_file(const std::string& path, const std::string& hint = {});

/// Removes a file if it exists and may be removed.
void try_remove_file(const std::string& path) noexcept;

/// The names in a directory, sorted; empty if there is none.
std::vector<std::string> list_directory(const std::string& path);
/// Those of plain files alone.
std::vector<std::string> list_files(const std::string& path);

bool path_exists(const std::string& path);

/// "PID NAME" of each process that has `path` open, as far as this user may see.
std::vector<std::string> holders_of(const std::string& path);

} // namespace iio_stream::sys
