// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

namespace iio_stream::sys {

void make_directory(const std::string& path); ///< the directory must not exist
void make_link(const std::string& target, const std::string& path);
/// Removes a directory. It is not an error if the directory does not exist; throws if it cannot be
/// removed.
void remove_directory(const std::string& path);

void mount_functionfs(const std::string& name, const std::string& path);
void unmount(const std::string& path); ///< unmounts at once, even with open files in the mount
                                       ///< (MNT_DETACH)

/// Returns the device name of the FunctionFS mounted at `path`, if there is one.
std::optional<std::string> functionfs_at(const std::string& path);
/// Returns the mount point of the FunctionFS of that name, if it is mounted.
std::optional<std::string> functionfs_mount(const std::string& name);

bool signal_process(int pid, int number) noexcept; ///< false if the process does not exist or
                                                   ///< cannot be signalled

} // namespace iio_stream::sys
