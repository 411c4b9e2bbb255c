// SPDX-License-Identifier: MIT
#include "archive/folder.hpp"

#include "iio_stream/error.hpp"
#include "sys/disk/whole_file.hpp"
#include "sys/files.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <random>
#include <sys/stat.h>
#include <unistd.h>

namespace iio_stream::archive {

namespace {

namespace fs = std::filesystem;

std::optional<Entry> entry_of(const std::string& path)
{
    struct stat status {};
    if (::lstat(path.c_str(), &status) < 0 || !S_ISREG(status.st_mode))
        return std::nullopt;
    constexpr std::int64_t kNs = 1'000'000'000;
    return Entry{static_cast<std::uint64_t>(status.st_size),
                 status.st_mtim.tv_sec * kNs + status.st_mtim.tv_nsec,
                 {}};
}

} // namespace

Folder::Folder(std::string path, GoOn go_on) : path_(std::move(path)), go_on_(std::move(go_on))
{
    if (!path_.ends_with('/'))
        path_ += '/';
}

void Folder::check_stop() const
{
    if (go_on_ && !go_on_())
        throw Stopped();
}

std::map<std::string, Entry> Folder::list()
{
    constexpr std::size_t kCheckAfter = 1024;
    std::map<std::string, Entry> found;
    std::error_code error;
    fs::recursive_directory_iterator file(path_, error);
    for (const fs::recursive_directory_iterator end; !error && file != end; file.increment(error)) {
        const std::string path = file->path().string();
        if (const std::optional<Entry> entry = entry_of(path))
            found.emplace_hint(found.end(), path.substr(path_.size()), *entry);
        if (found.size() % kCheckAfter == 0)
            check_stop();
    }
    if (error)
        throw Error(Fault::storage, error.value(), "list", path_);
    return found;
}

std::optional<Entry> Folder::find(const std::string& name)
{
    return entry_of(path_ + name);
}

std::string Folder::read(const std::string& name, const Into& into, std::uint64_t begin)
{
    constexpr std::uint64_t kMost = 1 << 20;
    const std::string path = path_ + name;
    const sys::UniqueFd fd = sys::open_file(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    struct stat status {};
    if (::fstat(fd.get(), &status) < 0 || !S_ISREG(status.st_mode))
        throw Error(Fault::storage, EINVAL, "read", path, "it is not a regular file");
    const auto size =
        static_cast<std::size_t>(std::min(static_cast<std::uint64_t>(status.st_size) + 1, kMost));
    const std::unique_ptr<std::byte[]> buffer(new std::byte[size]);
    for (std::uint64_t place = begin;;) {
        const ssize_t got = ::pread(fd.get(), buffer.get(), size, static_cast<off_t>(place));
        if (got == 0)
            return {};
        if (got < 0 && errno != EINTR)
            throw Error(Fault::storage, errno, "read", path);
        place += static_cast<std::uint64_t>(std::max<ssize_t>(got, 0));
        into({buffer.get(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))});
        check_stop();
    }
}

void Folder::write(const std::string& name, const std::string& text)
{
    const std::string path = path_ + name;
    const std::string own =
        path + "." + std::to_string(std::random_device()()); // other processes may write `path`
    sys::publish_file(own, text, sys::Existing::refused);
    if (::rename(own.c_str(), path.c_str()) < 0) {
        const int error = errno;
        sys::try_remove_file(own);
        throw Error(Fault::storage, error, "write", path);
    }
}

void Folder::remove(const std::string& name)
{
    sys::remove_file(path_ + name);
}

} // namespace iio_stream::archive
