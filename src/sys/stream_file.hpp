// SPDX-License-Identifier: MIT
#pragma once

#include "sys/unique_fd.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace iio_stream::sys {

/// stdin (0) or stdout (1) with a file description of our own where that is possible (pipes and
/// files), so that making it non-blocking does not change it for whoever shares it.
UniqueFd own_standard_stream(int fd);

/// A FIFO or device, opened for writing without blocking. A FIFO's reader is waited for until
/// `deadline_ns` (CLOCK_MONOTONIC).
UniqueFd open_for_writing(const std::string& path, std::int64_t deadline_ns);

bool is_regular(int fd);
bool is_directory(const std::string& path);
bool is_special(const std::string& path); ///< something that is neither a file nor a directory
/// The size of a regular file, and the place in it where the next write() goes.
std::uint64_t file_size(int fd, const std::string& path);
/// The smallest part of a file that its file system keeps as a whole.
std::uint64_t file_block(int fd, const std::string& path);
std::uint64_t file_position(int fd, const std::string& path);

enum class Lock { shared, exclusive };
/// Locks the open file itself, whatever its names are, until it is closed: false where somebody else's
/// lock is in the way. True also where the file system knows no locks.
bool try_lock(int fd, Lock lock) noexcept;
/// The same with patience: the kernel ends the requests of a process that was killed, and its locks
/// with them, some time after it; and others only look whether there is one.
bool lock_soon(int fd, Lock lock) noexcept;
void unlock(int fd) noexcept;

/// For a thread that writes: a pipe without a reader, or a file at its limit, is an errno (EPIPE,
/// EFBIG) and not the process' death by SIGPIPE or SIGXFSZ.
void block_write_signals() noexcept;

/// A pipe of 1 MiB moves several times what one of 64 KiB does; nothing where it is no pipe.
void widen_pipe(int fd) noexcept;

/// Writes all of `data`, going on after short writes. False where `cancel` became readable first;
/// `done` tells how far it came, also when it throws.
bool write_all(int fd, const std::string& path, std::span<const std::byte> data, int cancel,
               std::size_t& done);

/// Writes once, without waiting: the bytes, 0 where there is no room now, or -ENODEV of a device that
/// is gone. Throws "write PATH: …".
std::ptrdiff_t write_some(int fd, const std::string& path, std::span<const std::byte> data);

/// Whether there is something to read, or the end. A FIFO that nobody has opened for writing yet
/// has neither, though read() would say the latter; and whoever gave us stdin may want it blocking.
bool has_news(int fd);

/// Reads once into `out`: the bytes, 0 at the end, or -1 where nothing has come yet.
std::ptrdiff_t read_some(int fd, const std::string& path, std::span<std::byte> out);

/// At a place of a regular file: all that is there of `out`, and all of `data`.
std::size_t read_at(int fd, const std::string& path, std::uint64_t offset, std::span<std::byte> out);
void write_at(int fd, const std::string& path, std::uint64_t offset, std::span<const std::byte> data);

/// Appends `line` and a newline in one write().
void append_line(int fd, const std::string& path, const std::string& line);

void sync_data(int fd, const std::string& path);
void truncate_file(int fd, const std::string& path, std::uint64_t bytes);

} // namespace iio_stream::sys
