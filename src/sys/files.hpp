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
/// The same for a file in sysfs, with one read() less: sysfs gives the whole text at once. In
/// procfs, a read() that does not fill its buffer does not mean that the file ends.
std::optional<std::string> read_sysfs(const std::string& path);

/// Reads a small open file from its start and returns the number at its beginning. Returns nullopt
/// and sets errno if the file cannot be read; errno is EINVAL if there is no number. Does not
/// allocate memory.
std::optional<double> read_number(int fd) noexcept;

/// Writes a small file (sysfs, debugfs) in one write(); throws "write PATH: …".
void write_text(const std::string& path, const std::string& text);

void make_directories(const std::string& path);

/// Writes a new file and renames it to `path`: readers see the old file or the new one, never a
/// partial one.
void replace_file(const std::string& path, const std::string& text);

/// Removes a file or link if it exists; throws "unlink PATH: …" if it cannot be removed.
void remove_file(const std::string& path, const std::string& hint = {});

/// Removes a file if it exists and this process has permission to remove it.
void try_remove_file(const std::string& path) noexcept;

/// Returns the sorted names in a directory; empty if the directory does not exist.
std::vector<std::string> list_directory(const std::string& path);
/// Returns only the names of regular files.
std::vector<std::string> list_files(const std::string& path);

bool path_exists(const std::string& path);

/// Returns "PID NAME" of each process that has `path` open, limited to the processes that this user
/// can inspect.
std::vector<std::string> holders_of(const std::string& path);

} // namespace iio_stream::sys
