// SPDX-License-Identifier: MIT
#pragma once

#include "core/base/ring.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <climits>
#include <poll.h>

namespace iio_stream::detail {

/// A ring from the pipeline to the caller of a Reader or Writer. The pipeline can close it. Its
/// event is set whenever the ring holds an item that the caller has not been notified of, and
/// permanently after close(). So the event works in poll() loops that do not call arm().
/// Thread: push() and close() on the pipeline's thread; pop() on the caller's thread; over() and
/// size() on any thread.
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

    /// Returns the next item. If there is none, fd() becomes readable when an item arrives or the
    /// queue is closed.
    std::optional<T> pop() noexcept
    {
        auto item = ring_->pop();
        if (item)
            return item;
        ring_->disarm(true);
        // Makes fd() readable again for items that this call does not take, and permanently after
        // close(). One more item may have arrived just before close().
        if (!ring_->arm() || over_.load(std::memory_order_acquire)) {
            ring_->call();
            item = ring_->pop();
        }
        return item;
    }

    /// Waits until fd() is readable. Returns false if `deadline_ns` passes first.
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
