// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace iio_stream::sys {

struct Uring;

/// Keeps a buffer alive and unchanged until the kernel has sent it.
using Lease = std::shared_ptr<const void>;

/// Sends on a TCP socket without a copy: the network card reads the pages directly (io_uring's
/// SEND_ZC). The leases of the pages are held until the kernel no longer uses them. Pages that are
/// sent repeatedly are registered, so the kernel need not pin them for every send. Thread: one at a
/// time; why_not() on any thread.
class ZeroCopy {
public:
    static constexpr std::size_t kFewestBytes = 16 * 1024; ///< a copy of fewer bytes is cheaper

    /// `fd` is a connected socket. Sending without a copy is off if its network interface does not
    /// support it or `wanted` is false.
    ZeroCopy(int fd, bool wanted);
    ZeroCopy(const ZeroCopy&) = delete;
    ~ZeroCopy();

    bool is_on() const noexcept { return why_not() == nullptr; }
    /// The reason why sends are copied; nullptr if they are not.
    const char* why_not() const noexcept { return why_not_.load(std::memory_order_relaxed); }

    int fd() const noexcept; ///< readable when a completion is available; -1: never

    /// A buffer that is sent repeatedly.
    struct Buffer {
        std::size_t index; ///< an index refers to the same memory until forget()
        std::span<const std::byte> bytes;
    };
    /// Begins to send bytes of a buffer. Call it only while is_on() is true and after the previous
    /// send has ended.
    void start(std::span<const std::byte> bytes, const Buffer& buffer, const Lease& lease);
    /// Returns the result of the last send once it has ended: the number of bytes that the socket
    /// accepted, or a negative errno. After EFAULT and EINVAL, sending without a copy is off. After
    /// ENOMEM and ENOBUFS, either it is off too, or the send can be repeated once no lease is held.
    std::optional<std::int32_t> result() const noexcept { return result_; }
    /// Unregisters all buffers, because their memory changes.
    void forget();

    /// Reads the kernel's completions and releases the leases of the bytes that have been sent.
    void read_completions();
    std::size_t held() const noexcept; ///< number of leases that are held
    /// If the kernel still uses pages, resets the connection, so that no more of their data is
    /// sent, and waits until the kernel releases them.
    void abandon();

private:
    struct Send {
        Lease lease;       ///< held until the kernel no longer uses the pages
        bool sent = false; ///< whether any bytes were sent
    };

    bool is_registered(std::span<const std::byte> bytes, const Buffer& buffer);
    bool reregister(const Buffer& buffer);
    void handle(Send& send, std::int32_t result);

    const int fd_;
    std::atomic<const char*> why_not_{nullptr};
    std::unique_ptr<Uring> uring_;
    std::optional<std::int32_t> result_ = 0;
    bool registers_ = false;                             ///< whether buffers can be registered
    std::vector<std::span<const std::byte>> registered_; ///< by buffer index; empty for a buffer
                                                         ///< that is not registered
    std::uint64_t first_ = 0; ///< number of sends before the first one in sends_
    std::deque<Send> sends_;
};

} // namespace iio_stream::sys
