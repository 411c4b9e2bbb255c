// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <set>
#include <span>
#include <sys/types.h>

namespace iio_stream::sys {

/// What keeps bytes as they are.
using Lease = std::shared_ptr<const void>;

/// Sends on a TCP socket without a copy: the card reads the pages themselves, by MSG_ZEROCOPY of the kernel
/// (Documentation/networking/msg_zerocopy.rst), and their leases are held until it has done with them.
/// Thread: one at a time; why_not() any.
class ZeroCopy {
public:
    static constexpr std::size_t kFewestBytes = 16 * 1024; ///< below, a copy is cheaper

    /// Of a connected socket. Off where its network interface cannot do it, and unless it is `wanted`.
    ZeroCopy(int fd, bool wanted);

    bool is_on() const noexcept { return why_not() == nullptr; }
    /// Why sends are copies; nullptr: they are none.
    const char* why_not() const noexcept { return why_not_.load(std::memory_order_relaxed); }

    /// As ::send() with MSG_DONTWAIT; a copy where it is off.
    ssize_t send(std::span<const std::byte> bytes, const Lease& lease);
    /// Releases what the kernel has done with: call it when the socket has POLLERR. False if there was no news.
    bool hear();
    /// How many leases other than this one are held.
    std::size_t held_beside(const Lease& lease) const noexcept;
    /// Resets the connection if the kernel still has pages, so that nothing of them is sent any more, and waits for them.
    void abandon();

private:
    struct Held {
        Lease lease;
        std::uint32_t last; ///< number of the last send of its pages
    };

    void finish(std::uint32_t first, std::uint32_t last);

    const int fd_;
    std::atomic<const char*> why_not_{nullptr};
    std::uint32_t next_ = 0;     ///< number of the next send, as the kernel counts
    std::uint32_t finished_ = 0; ///< the kernel has done with all sends before this one …
    std::set<std::uint32_t> early_; ///< … and with these
    std::deque<Held> held_;
};

} // namespace iio_stream::sys
