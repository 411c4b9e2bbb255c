// SPDX-License-Identifier: MIT
#pragma once

#include "core/base/ring.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <climits>
#include <poll.h>

namespace iio_stream::detail {

/// A ring from the pipeline to the caller of a Reader or Writer, which can end. Its event is set
/// whenever the ring holds something the taker has not been notified about, or is over, so it works
/// in poll() loops that know nothing of arm(). Thread: push() and close() on the pipeline's; pop()
/// on the caller's; over() and size() on any.
template <typename T>
class UserQueue {
public:
    void reset(std::size_t capacity)
    {
        ring_ = std::make_unique<RingOf<T>>(capacity);
        over_.store(false, std::memory_order_relaxed);
        (void)ring_->arm();
    }

    void push(T item) noexcept { ring_->push(std::move(item)); }
    void close() noexcept
    {
        over_.store(true, std::memory_order_release);
        ring_->call();
    }

    /// The next item; if there is none, fd() becomes readable when that changes.
    std::optional<T> pop() noexcept
    {
        auto item = ring_->pop();
        if (item)
            return item;
        ring_->disarm(true);
        // Makes fd() readable again for items this does not take, and permanently after the end,
        // just before which one more may have come.
        if (!ring_->arm() || over_.load(std::memory_order_acquire)) {
            ring_->call();
            item = ring_->pop();
        }
        return item;
    }

    /// Waits until pop() has something; false at `deadline_ns`.
    bool wait(std::int64_t deadline_ns) const
    {
        return sys::wait_for(ring_->fd(), POLLIN, deadline_ns);
    }

    bool over() const noexcept { return over_.load(std::memory_order_acquire); }
    std::size_t size() const noexcept { return ring_ ? ring_->size() : 0; }
    int fd() const noexcept { return ring_ ? ring_->fd() : -1; }

private:
    std::unique_ptr<RingOf<T>> ring_;
    std::atomic<bool> over_{false};
};

} // namespace iio_stream::detail
