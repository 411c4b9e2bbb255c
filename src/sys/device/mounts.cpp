// SPDX-License-Identifier: MIT
#include "sys/device/mounts.hpp"

#include "sys/fail.hpp"
#include "sys/files.hpp"

#include <cerrno>
#include <csignal>
#include <functional>
#include <sstream>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

namespace iio_stream::sys {

void make_directory(const std::string& path)
{
    if (::mkdir(path.c_str(), 0755) < 0)
        fail(errno, "mkdir", path);
}

void make_link(const std::string& target, const std::string& path)
{
    if (::symlink(target.c_str(), path.c_str()) < 0)
        fail(errno, "symlink", path);
}

void remove_directory(const std::string& path)
{
    if (::rmdir(path.c_str()) < 0 && errno != ENOENT)
        fail(errno, "rmdir", path);
}

void mount_functionfs(const std::string& name, const std::string& path)
{
    if (::mount(name.c_str(), path.c_str(), "functionfs", MS_NOSUID | MS_NODEV | MS_NOEXEC,
                nullptr) < 0)
        fail(errno, "mount functionfs", path);
}

void unmount(const std::string& path)
{
    if (::umount2(path.c_str(), MNT_DETACH) < 0 && errno != EINVAL && errno != ENOENT)
        fail(errno, "umount", path);
}

namespace {

std::optional<std::pair<std::string, std::string>>
find_mount(const std::function<bool(const std::string& name, const std::string& path)>& wanted)
{
    std::istringstream lines{read_text("/proc/self/mounts").value_or("")};
    std::string line;
    std::optional<std::pair<std::string, std::string>> found; // the last mount is on top
    while (std::getline(lines, line)) {
        std::istringstream words{line};
        std::string name, path, type;
        words >> name >> path >> type;
        if (type == "functionfs" && wanted(name, path))
            found = {name, path};
    }
    return found;
}

} // namespace

std::optional<std::string> functionfs_at(const std::string& path)
{
    const auto found = find_mount([&](const auto&, const auto& at) { return at == path; });
    return found ? std::optional(found->first) : std::nullopt;
}

std::optional<std::string> functionfs_mount(const std::string& name)
{
    const auto found = find_mount([&](const auto& is, const auto&) { return is == name; });
    return found ? std::optional(found->second) : std::nullopt;
}

bool signal_process(int pid, int number) noexcept
{
    return ::kill(pid, number) == 0;
}

} // namespace iio_stream::sys
