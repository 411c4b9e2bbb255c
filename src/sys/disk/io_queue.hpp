// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace iio_stream::sys {

/// The result of one request.
struct Completed {
    std::size_t tag;
    std::ptrdiff_t result; ///< bytes, or a negative errno
};

/// A queue of requests to one file. Several can be in flight, and they complete in any order.
/// Borrows: the file, and the memory of each request until the request has completed.
/// Thread: one at a time.
class IoQueue {
public:
    virtual ~IoQueue() = default;

    virtual bool may_block() const noexcept = 0; ///< whether a request can wait for the disk

    /// `buffer` is the index of the registered memory that contains `data`.
    virtual void write(std::span<const std::byte> data, std::uint64_t offset, std::size_t buffer,
                       std::size_t tag) = 0;
    virtual void read(std::span<std::byte> data, std::uint64_t offset, std::size_t buffer,
                      std::size_t tag) = 0;
    virtual void allocate(std::uint64_t offset, std::uint64_t bytes, std::size_t tag) = 0;
    virtual void sync(std::size_t tag) = 0;

    virtual std::optional<Completed> take() = 0;
    virtual int fd() const noexcept = 0; ///< readable when a request has completed
    /// Returns the errno of the registration of the buffers; 0 if it succeeded or if this queue
    /// does not register buffers.
    virtual int register_error() const noexcept { return 0; }
};

using Buffers = std::span<const std::span<std::byte>>;

/// Creates a queue that uses io_uring, with the file and `buffers` registered. register_error()
/// reports whether the registration failed.
std::unique_ptr<IoQueue> make_uring_queue(int fd, const std::string& path, std::size_t depth,
                                          Buffers buffers);
/// Creates a queue that uses the kernel's older asynchronous I/O (as libaio does).
std::unique_ptr<IoQueue> make_aio_queue(int fd, const std::string& path, std::size_t depth);

} // namespace iio_stream::sys
