// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

namespace iio_stream::sys {

void make_directory(const std::string& path); ///< must not exist
void make_link(const std::string& target, const std::string& path);
/// Remove one thing each; what is not there is fine. Throw where it is there and stays.
void remove_directory(const std::string& path);
void remove_link(const std::string& path);

void mount_functionfs(const std::string& name, const std::string& path);
void unmount(const std::string& path); ///< at once, whoever has files open there

/// What is mounted at `path`: its device name, where that is a FunctionFS.
std::optional<std::string> functionfs_at(const std::string& path);
/// Where the FunctionFS of that name is mounted.
std::optional<std::string> functionfs_mount(const std::string& name);

bool signal_process(int pid, int number) noexcept; ///< false where there is none

} // namespace iio_stream::sys
