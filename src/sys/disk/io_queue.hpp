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

/// Requests to one file, several in flight; they complete in any order.
/// Borrows: the file, and the memory of each request until it has completed.
/// Thread: one at a time.
class IoQueue {
public:
    virtual ~IoQueue() = default;

    virtual bool may_block() const noexcept = 0; ///< a request may wait for the disk

    /// `buffer`: index of the registered memory that contains `data`.
    virtual void write(std::span<const std::byte> data, std::uint64_t offset, std::size_t buffer,
                       std::size_t tag) = 0;
    virtual void read(std::span<std::byte> data, std::uint64_t offset, std::size_t buffer,
                      std::size_t tag) = 0;
    virtual void allocate(std::uint64_t offset, std::uint64_t bytes, std::size_t tag) = 0;
    virtual void sync(std::size_t tag) = 0;

    virtual std::optional<Completed> take() = 0;
    virtual int fd() const noexcept = 0; ///< readable when something has completed
    /// The errno of registering the buffers; 0 if they are registered, or never are.
    virtual int register_error() const noexcept { return 0; }
};

using Buffers = std::span<const std::span<std::byte>>;

/// By io_uring, with the file and `buffers` registered; register_error() says if that failed.
std::unique_ptr<IoQueue> make_uring_queue(int fd, const std::string& path, std::size_t depth,
                                          Buffers buffers);
/// By the kernel's older asynchronous I/O (libaio's).
std::unique_ptr<IoQueue> make_aio_queue(int fd, const std::string& path, std::size_t depth);

} // namespace iio_stream::sys
