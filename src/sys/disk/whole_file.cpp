// SPDX-License-Identifier: MIT
#include "sys/disk/whole_file.hpp"

#include "sys/fail.hpp"
#include "sys/files.hpp"
#include "sys/machine.hpp"
#include "sys/stream_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <span>
#include <unistd.h>

namespace iio_stream::sys {

namespace {

constexpr std::size_t kReserve = 64 << 10;

std::string fresh_of(const std::string& path)
{
    return path + ".new";
}

// Errors name the final file, not the temporary one.
UniqueFd open_fresh(const std::string& path)
try {
    return open_file(fresh_of(path), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0666);
} catch (const Error& error) {
    throw Error(error.fault(), error.code().value(), error.operation(), path, error.detail(),
                error.hint());
}

// Renames a file if the new name does not exist. Returns 0 or the errno. On file systems without
// RENAME_NOREPLACE it uses a hard link. If the file system also lacks hard links (FAT), it can only
// check first whether the name exists.
int rename_to_free(const std::string& from, const std::string& to)
{
    if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return errno;
    if (::link(from.c_str(), to.c_str()) == 0)
        return ::unlink(from.c_str()) == 0 ? 0 : errno;
    if (errno == EEXIST)
        return EEXIST;
    if (path_exists(to))
        return EEXIST;
    return ::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
}

// Writes the new name to the disk as well. Errors of file systems that cannot sync a directory are
// ignored.
void sync_directory_of(const std::string& path)
{
    const std::string folder = std::filesystem::path(path).parent_path().string();
    const UniqueFd fd{
        ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (fd.valid())
        (void)::fsync(fd.get());
}

} // namespace

std::optional<std::string> read_whole(const std::string& path, std::size_t most)
{
    // Without O_NONBLOCK, open() of a FIFO would wait for a writer.
    const UniqueFd fd{::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)};
    if (!fd.valid() && (errno == ENOENT || errno == ENOTDIR))
        return std::nullopt;
    if (!fd.valid())
        fail(errno, "open", path);
    if (!is_regular(fd.get()))
        throw Error(Fault::storage, EINVAL, "read", path, "it is not a file");
    std::string text;
    std::array<std::byte, 4096> chunk;
    while (text.size() < most) {
        const std::ptrdiff_t got = read_some(fd.get(), path, chunk);
        if (got == 0)
            break;
        text.append(reinterpret_cast<const char*>(chunk.data()),
                    std::min(static_cast<std::size_t>(got), most - text.size()));
    }
    return text;
}

void reserve_publish(const std::string& path) noexcept
{
    // For a size above RLIMIT_FSIZE, the kernel would send SIGXFSZ, which ends the process.
    if (file_size_limit() < kReserve)
        return;
    const UniqueFd fd{::open(fresh_of(path).c_str(),
                             O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666)};
    if (fd.valid())
        (void)::posix_fallocate(fd.get(), 0, kReserve);
}

void release_publish(const std::string& path) noexcept
{
    try_remove_file(fresh_of(path));
}

void clear_publish(const std::string& path) noexcept
{
    const std::string fresh = fresh_of(path);
    const UniqueFd fd{::open(fresh.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
    if (fd.valid() && is_regular(fd.get()) && try_lock(fd.get(), Lock::exclusive))
        try_remove_file(fresh);
}

void publish_file(const std::string& path, const std::string& text, Existing existing)
{
    const std::string fresh = fresh_of(path);
    int error = 0;
    try {
        const UniqueFd fd = open_fresh(path);
        (void)try_lock(fd.get(), Lock::exclusive); // protects the file from clear_publish()
        std::size_t done = 0;
        (void)write_all(fd.get(), fresh, std::as_bytes(std::span(text)), -1, done);
        sync_file(fd.get(), fresh);
        if (existing == Existing::refused)
            error = rename_to_free(fresh, path);
        else if (::rename(fresh.c_str(), path.c_str()) < 0)
            error = errno;
    } catch (const Error&) {
        try_remove_file(fresh);
        throw;
    }
    if (error != 0) {
        try_remove_file(fresh);
        fail(error, "create", path);
    }
    sync_directory_of(path);
}

NewFile::NewFile(std::string path) : path_(std::move(path))
{
    const std::string folder = std::filesystem::path(path_).parent_path().string();
    fd_ = UniqueFd(
        ::open(folder.empty() ? "." : folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666));
    if (fd_.valid())
        return;
    if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)
        fail(errno, "create", path_);
    fd_ = open_fresh(path_);
    has_name_ = true;
}

NewFile::~NewFile()
{
    if (has_name_)
        try_remove_file(fresh_of(path_));
}

void NewFile::publish(Existing existing)
{
    const std::string fresh = fresh_of(path_);
    sync_file(fd_.get(), path_);
    if (!has_name_) {
        const std::string own = "/proc/self/fd/" + std::to_string(fd_.get());
        const std::string& name = existing == Existing::refused ? path_ : fresh;
        if (existing == Existing::replaced)
            try_remove_file(fresh);
        if (::linkat(AT_FDCWD, own.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) != 0)
            fail(errno, "create", path_);
        has_name_ = existing == Existing::replaced;
    }
    if (has_name_) {
        const int error = existing == Existing::refused ? rename_to_free(fresh, path_)
                          : ::rename(fresh.c_str(), path_.c_str()) < 0 ? errno
                                                                       : 0;
        if (error != 0)
            fail(error, "create", path_);
        has_name_ = false;
    }
    sync_directory_of(path_);
}

std::uint64_t first_hole(int fd, const std::string& path)
{
    const off_t hole = ::lseek(fd, 0, SEEK_HOLE);
    if (hole >= 0)
        return static_cast<std::uint64_t>(hole);
    if (errno == ENXIO) // the file is empty
        return 0;
    fail(errno, "lseek SEEK_HOLE", path);
}

void sync_file(int fd, const std::string& path)
{
    if (::fsync(fd) < 0 && errno != EINVAL && errno != EROFS)
        fail(errno, "fsync", path);
}

} // namespace iio_stream::sys
