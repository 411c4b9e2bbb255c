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

/// Sends on a TCP socket without a copy: the card reads the pages themselves (io_uring's SEND_ZC),
/// and their leases are held until the kernel has done with them. Pages that are sent again and
/// again are registered, so the kernel need not pin them for every send. Thread: one at a time;
/// why_not() any.
class ZeroCopy {
public:
    static constexpr std::size_t kFewestBytes = 16 * 1024; ///< below, a copy is cheaper

    /// Of a connected socket. Off where its network interface cannot do it, and unless it is
    /// `wanted`.
    ZeroCopy(int fd, bool wanted);
    ZeroCopy(const ZeroCopy&) = delete;
    ~ZeroCopy();

    bool is_on() const noexcept { return why_not() == nullptr; }
    /// Why sends are copies; nullptr: they are none.
    const char* why_not() const noexcept { return why_not_.load(std::memory_order_relaxed); }

    int fd() const noexcept; ///< readable when there are completions to read; -1: never

    /// Memory that is sent again and again.
    struct Buffer {
        std::size_t index; ///< the same one has the same memory, until forget()
        std::span<const std::byte> bytes;
    };
    /// Begins to send bytes of a buffer; only where it is on, and when the send before has ended.
    void start(std::span<const std::byte> bytes, const Buffer& buffer, const Lease& lease);
    /// What has become of it, when it has ended: how many bytes the socket has taken, or a negative
    /// errno. After EFAULT and EINVAL it is off; after ENOMEM and ENOBUFS too, or it can be tried
    /// again when no lease is held.
    std::optional<std::int32_t> result() const noexcept { return result_; }
    /// The memory of all buffers changes.
    void forget();

    /// Reads the kernel's completions, and releases the leases of bytes that were sent.
    void read_completions();
    /// How many leases other than this one are held.
    std::size_t held_beside(const Lease& lease) const noexcept;
    /// Resets the connection if the kernel still has pages, so that nothing of them is sent any
    /// more, and waits for them.
    void abandon();

private:
    struct Send {
        Lease lease;       ///< until the kernel has done with it
        bool sent = false; ///< any of it
    };

    bool is_registered(std::span<const std::byte> bytes, const Buffer& buffer);
    bool reregister(const Buffer& buffer);
    void handle(Send& send, std::int32_t result);

    const int fd_;
    std::atomic<const char*> why_not_{nullptr};
    std::unique_ptr<Uring> uring_;
    std::optional<std::int32_t> result_ = 0;
    bool registers_ = false;                             ///< buffers
    std::vector<std::span<const std::byte>> registered_; ///< by index; those that are not are empty
    std::uint64_t first_ = 0; ///< how many sends there were before sends_
    std::deque<Send> sends_;
};

} // namespace iio_stream::sys
