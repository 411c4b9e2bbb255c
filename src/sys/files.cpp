// SPDX-License-Identifier: MIT
#include "sys/files.hpp"

#include "sys/fail.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

namespace iio_stream::sys {

UniqueFd open_file(const std::string& path, int flags, unsigned mode)
{
    UniqueFd fd{::open(path.c_str(), flags | O_CLOEXEC, mode)};
    if (!fd.valid()) {
        const int error = errno;
        const std::string folder = std::filesystem::path(path).parent_path().string();
        const bool lacks_folder =
            error == ENOENT && (flags & O_CREAT) != 0 && !folder.empty() && !path_exists(folder);
        fail(error, "open", path, lacks_folder ? "there is no folder " + folder : "");
    }
    return fd;
}

namespace {

enum class ShortRead { ends, continues };

std::optional<std::string> read_whole(const std::string& path, ShortRead short_read)
{
    UniqueFd fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
    if (!fd.valid()) {
        if (errno == ENOENT || errno == ENOTDIR)
            return std::nullopt;
        fail(errno, "open", path);
    }
    std::string text;
    std::array<char, 4096> chunk;
    for (;;) {
        const ssize_t got = ::read(fd.get(), chunk.data(), chunk.size());
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            fail(errno, "read", path);
        if (got == 0)
            break;
        const auto bytes = static_cast<std::size_t>(got);
        text.append(chunk.data(), bytes);
        if (short_read == ShortRead::ends && bytes < chunk.size())
            break;
    }
    while (!text.empty() && text.back() == '\n')
        text.pop_back();
    return text;
}

} // namespace

std::optional<std::string> read_text(const std::string& path)
{
    return read_whole(path, ShortRead::continues);
}

std::optional<std::string> read_sysfs(const std::string& path)
{
    return read_whole(path, ShortRead::ends);
}

std::optional<double> read_number(int fd) noexcept
{
    std::array<char, 64> text{};
    ssize_t got;
    do
        got = ::pread(fd, text.data(), text.size() - 1, 0);
    while (got < 0 && errno == EINTR);
    char* end = text.data();
    const double number = std::strtod(text.data(), &end);
    if (got < 0)
        return std::nullopt;
    if (end != text.data() && std::isfinite(number))
        return number;
    errno = EINVAL;
    return std::nullopt;
}

void write_text(const std::string& path, const std::string& text)
{
    const UniqueFd fd = open_file(path, O_WRONLY);
    if (::write(fd.get(), text.data(), text.size()) < 0)
        fail(errno, "write", path + " = " + text);
}

void make_directories(const std::string& path)
{
    std::error_code error;
    std::filesystem::create_directories(path, error);
    if (error)
        fail(error.value(), "mkdir", path);
}

void replace_file(const std::string& path, const std::string& text)
{
    const std::string fresh = path + ".new";
    const UniqueFd fd = open_file(fresh, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (::write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
        fail(errno, "write", fresh);
    if (::rename(fresh.c_str(), path.c_str()) < 0)
        fail(errno, "rename", fresh + " to " + path);
}

void remove_file(const std::string& path, const std::string& hint)
{
    if (::unlink(path.c_str()) < 0 && errno != ENOENT)
        fail(errno, "unlink", path, hint);
}

void try_remove_file(const std::string& path) noexcept
{
    (void)::unlink(path.c_str());
}

namespace {

// Returns the sorted names of the entries that `wanted` accepts.
template <typename Wanted>
std::vector<std::string> list_if(const std::string& path, Wanted&& wanted)
{
    std::vector<std::string> names;
    const std::unique_ptr<DIR, int (*)(DIR*)> directory{::opendir(path.c_str()), &::closedir};
    if (directory == nullptr)
        return names;
    while (const dirent* entry = ::readdir(directory.get())) {
        const std::string name = entry->d_name;
        if (name != "." && name != ".." && wanted(name, entry->d_type))
            names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    return names;
}

} // namespace

std::vector<std::string> list_directory(const std::string& path)
{
    return list_if(path, [](const std::string&, unsigned char) { return true; });
}

std::vector<std::string> list_files(const std::string& path)
{
    return list_if(path, [&](const std::string& name, unsigned char type) {
        if (type != DT_UNKNOWN && type != DT_LNK) // avoid stat(): a device has hundreds of files
            return type == DT_REG;
        struct stat status {};
        return ::stat((path + "/" + name).c_str(), &status) == 0 && S_ISREG(status.st_mode);
    });
}

bool path_exists(const std::string& path)
{
    return ::access(path.c_str(), F_OK) == 0;
}

std::vector<std::string> holders_of(const std::string& path)
{
    std::vector<std::string> holders;
    struct stat wanted {};
    const bool there = ::stat(path.c_str(), &wanted) == 0;
    for (const std::string& pid : list_directory("/proc")) {
        if (pid.find_first_not_of("0123456789") != std::string::npos)
            continue;
        const std::string process = "/proc/" + pid;
        for (const std::string& fd : list_directory(process + "/fd")) {
            std::array<char, 4096> target;
            const ssize_t length =
                ::readlink((process + "/fd/" + fd).c_str(), target.data(), target.size());
            // Compare inodes as well, because the file can have other names or be visible in other
            // mounts.
            if (length <= 0 || target[0] != '/')
                continue;
            struct stat held {};
            if (path != std::string(target.data(), static_cast<std::size_t>(length)) &&
                (!there || ::stat((process + "/fd/" + fd).c_str(), &held) < 0 ||
                 held.st_dev != wanted.st_dev || held.st_ino != wanted.st_ino))
                continue;
            holders.push_back(pid + " " + read_text(process + "/comm").value_or("?"));
            break;
        }
    }
    return holders;
}

} // namespace iio_stream::sys
