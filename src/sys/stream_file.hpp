// SPDX-License-Identifier: MIT
#pragma once

#include "sys/unique_fd.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace iio_stream::sys {

/// Opens stdin (0) or stdout (1) again. A pipe gets its own open file description, so that the
/// non-blocking mode does not affect other processes that share it. Other files are only
/// duplicated.
UniqueFd own_standard_stream(int fd);

/// Opens a FIFO or device for non-blocking writing. Waits for a reader of the FIFO until
/// `deadline_ns` (CLOCK_MONOTONIC).
UniqueFd open_for_writing(const std::string& path, std::int64_t deadline_ns);

bool is_regular(int fd);
bool is_directory(const std::string& path);
bool is_special(const std::string& path); ///< whether it exists and is neither a regular file nor a
                                          ///< directory
/// Returns the size of a regular file.
std::uint64_t file_size(int fd, const std::string& path);
/// Returns the block size of the file's file system.
std::uint64_t file_block(int fd, const std::string& path);
std::uint64_t file_position(int fd, const std::string& path);

enum class Lock { shared, exclusive };
/// Locks the file itself (flock), whatever its names, until it is closed. Returns false if a
/// conflicting lock exists, and true if the file system does not support locks.
bool try_lock(int fd, Lock lock) noexcept;
/// The same with retries: the kernel releases the locks of a killed process only after its requests
/// have ended, and other processes briefly take a lock to test it.
bool lock_soon(int fd, Lock lock) noexcept;
void unlock(int fd) noexcept;
/// Returns whether `path` still names the open file. If the file was removed or renamed, its lock
/// does not protect the file that has the name now.
bool has_name(int fd, const std::string& path);

/// Returns another descriptor of the same open file, which shares its locks.
UniqueFd duplicate(int fd, const std::string& name);

/// Blocks SIGPIPE and SIGXFSZ on a writing thread. A pipe without a reader or a file at its size
/// limit then gives an errno (EPIPE, EFBIG) and does not kill the process.
void block_write_signals() noexcept;

/// Enlarges a pipe to 1 MiB, which gives several times the throughput of 64 KiB. Does nothing for
/// other files.
void widen_pipe(int fd) noexcept;

/// Writes all of `data`, continuing after short writes. Returns false if `cancel` became readable
/// first. `done` is the number of bytes written, even if the function throws.
bool write_all(int fd, const std::string& path, std::span<const std::byte> data, int cancel,
               std::size_t& done);

/// Calls write() once without waiting. Returns the bytes written, 0 if there is no room now, and
/// -ENODEV if the device was removed. Throws "write PATH: …".
std::ptrdiff_t write_some(int fd, const std::string& path, std::span<const std::byte> data);

/// Returns whether data or the end of the file can be read. A FIFO that has not had a writer yet
/// has neither, although read() would report the end. The function also works if stdin is in
/// blocking mode, which other processes that share it can require.
bool has_news(int fd);

/// Calls read() once. Returns the bytes read, 0 at the end, and -1 if no data is available yet.
std::ptrdiff_t read_some(int fd, const std::string& path, std::span<std::byte> out);

/// Access a regular file at an offset. read_at() fills `out` up to the end of the file, and
/// write_at() writes all of `data`.
std::size_t read_at(int fd, const std::string& path, std::uint64_t offset,
                    std::span<std::byte> out);
void write_at(int fd, const std::string& path, std::uint64_t offset,
              std::span<const std::byte> data);

/// Appends `line` and a newline in one write().
void append_line(int fd, const std::string& path, const std::string& line);

void sync_data(int fd, const std::string& path);
void truncate_file(int fd, const std::string& path, std::uint64_t bytes);

} // namespace iio_stream::sys
