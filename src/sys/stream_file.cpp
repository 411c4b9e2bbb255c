// SPDX-License-Identifier: MIT
#include "sys/stream_file.hpp"

#include "sys/event.hpp"
#include "sys/fail.hpp"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>

namespace iio_stream::sys {

namespace {

struct stat status_of(int fd, const std::string& path)
{
    struct stat status {};
    if (::fstat(fd, &status) < 0)
        fail(errno, "stat", path);
    return status;
}

} // namespace

UniqueFd own_standard_stream(int fd)
{
    const std::string name = fd == 0 ? "stdin" : "stdout";
    if (S_ISFIFO(status_of(fd, name).st_mode)) {
        const std::string path = "/proc/self/fd/" + std::to_string(fd);
        UniqueFd own{
            ::open(path.c_str(), (fd == 0 ? O_RDONLY : O_WRONLY) | O_NONBLOCK | O_CLOEXEC)};
        if (own.valid())
            return own;
    }
    return duplicate(fd, name);
}

UniqueFd duplicate(int fd, const std::string& name)
{
    UniqueFd copy{::fcntl(fd, F_DUPFD_CLOEXEC, 3)};
    if (!copy.valid())
        fail(errno, "dup", name);
    return copy;
}

UniqueFd open_for_writing(const std::string& path, std::int64_t deadline_ns)
{
    for (;;) {
        UniqueFd fd{::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC)};
        if (fd.valid())
            return fd;
        struct stat status {};
        const bool unread =
            errno == ENXIO && ::stat(path.c_str(), &status) == 0 && S_ISFIFO(status.st_mode);
        if (!unread)
            fail(errno, "open", path);
        if (monotonic_ns() >= deadline_ns)
            fail(ENXIO, "open", path,
                 "no process has opened the pipe for reading; --timeout waits longer");
        (void)::poll(nullptr, 0, 10);
    }
}

bool is_directory(const std::string& path)
{
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

bool is_special(const std::string& path)
{
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) &&
           !S_ISDIR(status.st_mode);
}

bool is_regular(int fd)
{
    return S_ISREG(status_of(fd, "fd " + std::to_string(fd)).st_mode);
}

std::uint64_t file_size(int fd, const std::string& path)
{
    return static_cast<std::uint64_t>(status_of(fd, path).st_size);
}

std::uint64_t file_block(int fd, const std::string& path)
{
    return static_cast<std::uint64_t>(status_of(fd, path).st_blksize);
}

std::uint64_t file_position(int fd, const std::string& path)
{
    const off_t position = ::lseek(fd, 0, SEEK_CUR);
    if (position < 0)
        fail(errno, "lseek", path);
    return static_cast<std::size_t>(position);
}

void block_write_signals() noexcept
{
    sigset_t signals;
    ::sigemptyset(&signals);
    ::sigaddset(&signals, SIGPIPE);
    ::sigaddset(&signals, SIGXFSZ);
    (void)::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

void widen_pipe(int fd) noexcept
{
    (void)::fcntl(fd, F_SETPIPE_SZ, 1 << 20);
}

bool write_all(int fd, const std::string& path, std::span<const std::byte> data, int cancel,
               std::size_t& done)
{
    done = 0;
    while (done < data.size()) {
        const ssize_t written = ::write(fd, data.data() + done, data.size() - done);
        if (written >= 0) {
            done += static_cast<std::size_t>(written);
            continue;
        }
        if (errno != EINTR && errno != EAGAIN)
            fail(errno, "write", path);
        pollfd fds[] = {{fd, POLLOUT, 0}, {cancel, POLLIN, 0}};
        if (::poll(fds, 2, -1) < 0 && errno != EINTR)
            fail(errno, "poll", path);
        if (fds[1].revents != 0)
            return false;
    }
    return true;
}

std::ptrdiff_t write_some(int fd, const std::string& path, std::span<const std::byte> data)
{
    for (;;) {
        const ssize_t written = ::write(fd, data.data(), data.size());
        if (written >= 0)
            return written;
        if (errno == EAGAIN)
            return 0;
        if (errno == ENODEV)
            return -ENODEV;
        if (errno != EINTR)
            fail(errno, "write", path);
    }
}

bool has_news(int fd)
{
    pollfd request{fd, POLLIN, 0};
    return ::poll(&request, 1, 0) > 0;
}

std::ptrdiff_t read_some(int fd, const std::string& path, std::span<std::byte> out)
{
    for (;;) {
        const ssize_t got = ::read(fd, out.data(), out.size());
        if (got >= 0)
            return got;
        if (errno == EAGAIN)
            return -1;
        if (errno != EINTR)
            fail(errno, "read", path);
    }
}

std::size_t read_at(int fd, const std::string& path, std::uint64_t offset, std::span<std::byte> out)
{
    std::size_t done = 0;
    while (done < out.size()) {
        const ssize_t got =
            ::pread(fd, out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            fail(errno, "read", path);
        if (got == 0)
            break;
        done += static_cast<std::size_t>(got);
    }
    return done;
}

void write_at(int fd, const std::string& path, std::uint64_t offset,
              std::span<const std::byte> data)
{
    while (!data.empty()) {
        const ssize_t done = ::pwrite(fd, data.data(), data.size(), static_cast<off_t>(offset));
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            fail(errno, "write", path);
        offset += static_cast<std::uint64_t>(done);
        data = data.subspan(static_cast<std::size_t>(done));
    }
}

void append_line(int fd, const std::string& path, const std::string& line)
{
    const std::string text = line + "\n";
    std::size_t done = 0;
    (void)write_all(fd, path, std::as_bytes(std::span(text)), -1, done);
}

bool try_lock(int fd, Lock lock) noexcept
{
    return ::flock(fd, (lock == Lock::shared ? LOCK_SH : LOCK_EX) | LOCK_NB) == 0 ||
           errno != EWOULDBLOCK;
}

bool lock_soon(int fd, Lock lock) noexcept
{
    constexpr std::int64_t kTimeoutNs = 500'000'000;
    const std::int64_t deadline = after(kTimeoutNs);
    while (!try_lock(fd, lock)) {
        if (monotonic_ns() > deadline)
            return false;
        (void)::poll(nullptr, 0, 2);
    }
    return true;
}

void unlock(int fd) noexcept
{
    (void)::flock(fd, LOCK_UN);
}

bool has_name(int fd, const std::string& path)
{
    const struct stat ours = status_of(fd, path);
    struct stat named {};
    return ::stat(path.c_str(), &named) == 0 && named.st_dev == ours.st_dev &&
           named.st_ino == ours.st_ino;
}

void sync_data(int fd, const std::string& path)
{
    // Pipes, sockets and devices have nothing to sync and return EINVAL or EROFS.
    if (::fdatasync(fd) < 0 && errno != EINVAL && errno != EROFS)
        fail(errno, "fdatasync", path);
}

void truncate_file(int fd, const std::string& path, std::uint64_t bytes)
{
    int result;
    do
        result = ::ftruncate(fd, static_cast<off_t>(bytes));
    while (result < 0 && errno == EINTR);
    if (result < 0)
        fail(errno, "ftruncate", path);
}

} // namespace iio_stream::sys
