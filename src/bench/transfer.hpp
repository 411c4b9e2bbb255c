// SPDX-License-Identifier: MIT
#pragma once

#include "bench/area.hpp"
#include "bench/bench_file.hpp"
#include "sys/disk/io_queue.hpp"

#include <array>

namespace iio_stream::bench {

enum class Method {
    buffered,
    direct,
    sendfile,
    splice,
    copy_file_range,
    libaio,
    io_uring,
    io_uring_registered
};
inline constexpr std::array kMethods = {
    Method::buffered,        Method::direct, Method::sendfile, Method::splice,
    Method::copy_file_range, Method::libaio, Method::io_uring, Method::io_uring_registered};
enum class Direction { write, read };
const char* name_of(Method method) noexcept;
const char* name_of(Direction direction) noexcept;

/// Moves an Area to the file, or the file into the Area, by one method.
/// Borrows: the Area and the file. Throws: Error, from the constructor too.
class Transfer {
public:
    /// Sets up the queue or the pipe and registers memory, as a stream does once.
    Transfer(Method method, Direction direction, const Area& area, const BenchFile& file,
             std::size_t depth);
    /// Returns false if stopped early.
    bool run(const std::atomic<bool>& stop);

private:
    /// Moves a part of a block, beginning at byte `done`. Returns the number of bytes, or -1 with
    /// errno set.
    std::ptrdiff_t step(std::size_t index, std::size_t done);
    std::ptrdiff_t through_pipe(const FileOffset& from, const FileOffset& to, std::size_t bytes);
    bool in_order(const std::atomic<bool>& stop);
    bool in_flight(const std::atomic<bool>& stop);
    int submit(std::size_t tag); ///< 0 or the errno
    [[noreturn]] void failed(int error) const;

    /// A block in flight.
    struct Flight {
        std::optional<Use> use;
        std::size_t index = 0, done = 0;
    };

    Method method_;
    Direction direction_;
    const Area& area_;
    const BenchFile& file_;
    int fd_ = -1;
    sys::UniqueFd pipe_in_, pipe_out_;
    std::vector<Flight> flights_; ///< by tag; outlive the queue, which waits for its requests
    std::unique_ptr<sys::IoQueue> queue_;
};

} // namespace iio_stream::bench
