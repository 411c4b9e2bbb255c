// SPDX-License-Identifier: MIT
#pragma once

#include "sys/unique_fd.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace iio_stream::sys {

/// stdin (0) or stdout (1), reopened where possible (pipes and files), so that making it
/// non-blocking does not change it for other processes that share it.
UniqueFd own_standard_stream(int fd);

/// Opens a FIFO or device for writing, non-blocking. Waits for a FIFO's reader until `deadline_ns`
/// (CLOCK_MONOTONIC).
UniqueFd open_for_writing(const std::string& path, std::int64_t deadline_ns);

bool is_regular(int fd);
bool is_directory(const std::string& path);
bool is_special(const std::string& path); ///< exists, and is not a regular file or directory
/// The size of a regular file.
std::uint64_t file_size(int fd, const std::string& path);
/// The block size of the file's file system.
std::uint64_t file_block(int fd, const std::string& path);
std::uint64_t file_position(int fd, const std::string& path);

enum class Lock { shared, exclusive };
/// Locks the file itself (flock), whatever its names, until it is closed: false if another lock is
/// in the way. True also if the file system has no locks.
bool try_lock(int fd, Lock lock) noexcept;
/// The same with retries: the kernel drops a killed process's locks only once its requests have
/// ended, and other processes take one briefly to test it.
bool lock_soon(int fd, Lock lock) noexcept;
void unlock(int fd) noexcept;
/// Whether `path` still names the open file. A lock of a file that was removed or renamed protects
/// nothing of that name.
bool has_name(int fd, const std::string& path);

/// Another descriptor of the same open file, with the same locks.
UniqueFd duplicate(int fd, const std::string& name);

/// For a writing thread: a pipe without a reader, or a file at its size limit, is an errno (EPIPE,
/// EFBIG) and does not kill the process by SIGPIPE or SIGXFSZ.
void block_write_signals() noexcept;

/// Enlarges a pipe to 1 MiB, which moves several times what 64 KiB does; does nothing otherwise.
void widen_pipe(int fd) noexcept;

/// Writes all of `data`, continuing after short writes. False where `cancel` became readable first;
/// `done` is what was written, also when it throws.
bool write_all(int fd, const std::string& path, std::span<const std::byte> data, int cancel,
               std::size_t& done);

/// One write() without waiting: the bytes written, 0 if there is no room now, -ENODEV if the
/// device is gone. Throws "write PATH: …".
std::ptrdiff_t write_some(int fd, const std::string& path, std::span<const std::byte> data);

/// Whether read() would return data or the end. A FIFO that has had no writer yet has neither,
/// though read() would report the end; and stdin may have to stay blocking for its other users.
bool has_news(int fd);

/// One read() into `out`: the bytes, 0 at the end, -1 if nothing is there yet.
std::ptrdiff_t read_some(int fd, const std::string& path, std::span<std::byte> out);

/// At an offset of a regular file: read_at() fills `out` as far as the file goes, write_at() writes
/// all of `data`.
std::size_t read_at(int fd, const std::string& path, std::uint64_t offset,
                    std::span<std::byte> out);
void write_at(int fd, const std::string& path, std::uint64_t offset,
              std::span<const std::byte> data);

/// Appends `line` and a newline in one write().
void append_line(int fd, const std::string& path, const std::string& line);

void sync_data(int fd, const std::string& path);
void truncate_file(int fd, const std::string& path, std::uint64_t bytes);

} // namespace iio_stream::sys
