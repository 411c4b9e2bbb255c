// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

namespace iio_stream::sys {

void make_directory(const std::string& path); ///< must not exist
void make_link(const std::string& target, const std::string& path);
/// No error if it does not exist; throws if it cannot be removed.
void remove_directory(const std::string& path);

void mount_functionfs(const std::string& name, const std::string& path);
void unmount(const std::string& path); ///< at once, even with files open there (MNT_DETACH)

/// The device name of the FunctionFS mounted at `path`, if there is one.
std::optional<std::string> functionfs_at(const std::string& path);
/// Where the FunctionFS of that name is mounted.
std::optional<std::string> functionfs_mount(const std::string& name);

bool signal_process(int pid, int number) noexcept; ///< false if there is no such process

} // namespace iio_stream::sys
