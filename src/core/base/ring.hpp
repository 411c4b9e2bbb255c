// SPDX-License-Identifier: MIT
#pragma once

#include "core/base/spsc_queue.hpp"
#include "iio_stream/block.hpp"
#include "sys/event.hpp"

#include <atomic>
#include <cassert>
#include <optional>

namespace iio_stream::detail {

/// Passes leases, or blocks, from one thread to another without a lock; the event wakes a sleeping
/// taker.
/// Thread: push() on the giving one; pop(), arm() and disarm() on the taking one.
template <typename T>
class RingOf {
public:
    explicit RingOf(std::size_t capacity) : items_(capacity) {}

    /// The caller has made sure that there is room: no more items exist than fit.
    void push(T item) noexcept
    {
        [[maybe_unused]] const bool pushed = items_.push(std::move(item));
        assert(pushed);
        wake();
    }

    std::optional<T> pop() noexcept { return items_.pop(); }

    std::size_t size() const noexcept { return items_.size(); }

    /// Call before waiting for fd(); false if there is something to pop, or call() was called.
    bool arm() noexcept
    {
        // Sequentially consistent with push(): either this sees the item or push() sees `armed_`.
        armed_.store(true, std::memory_order_seq_cst);
        if (items_.is_empty())
            return true;
        armed_.store(false, std::memory_order_relaxed);
        return false;
    }
    void disarm(bool readable) noexcept
    {
        armed_.store(false, std::memory_order_relaxed);
        if (readable)
            event_.clear();
    }
    void wake() noexcept
    {
        if (armed_.load(std::memory_order_seq_cst) &&
            armed_.exchange(false, std::memory_order_seq_cst))
            event_.set();
    }
    /// Wakes the taker whether it sleeps or is about to.
    void call() noexcept { event_.set(); }
    int fd() const noexcept { return event_.fd(); }

private:
    SpscQueue<T> items_;
    sys::Event event_;
    std::atomic<bool> armed_{false};
};
using Ring = RingOf<Block>;

} // namespace iio_stream::detail
