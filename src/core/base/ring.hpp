// SPDX-License-Identifier: MIT
#pragma once

#include "core/base/spsc_queue.hpp"
#include "iio_stream/block.hpp"
#include "sys/event.hpp"

#include <atomic>
#include <cassert>
#include <optional>

namespace iio_stream::detail {

/// Passes leases or empty blocks from one thread to another without a lock. An event wakes a
/// consumer that sleeps.
/// Thread: push() on the producer; pop(), arm() and disarm() on the consumer.
template <typename T>
class RingOf {
public:
    explicit RingOf(std::size_t capacity) : items_(capacity) {}

    /// There must be room. Callers ensure this with a capacity of the largest number of items that
    /// can exist.
    void push(T item) noexcept
    {
        [[maybe_unused]] const bool pushed = items_.push(std::move(item));
        assert(pushed);
        wake();
    }

    std::optional<T> pop() noexcept { return items_.pop(); }

    std::size_t size() const noexcept { return items_.size(); }

    /// Call before waiting for fd(). Returns false, and does not arm, if there is an item to pop.
    bool arm() noexcept
    {
        // Sequentially consistent with push(): either arm() sees the item or push() sees `armed_`.
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
    /// Wakes the consumer, whether it is asleep or about to sleep.
    void call() noexcept { event_.set(); }
    int fd() const noexcept { return event_.fd(); }

private:
    SpscQueue<T> items_;
    sys::Event event_;
    std::atomic<bool> armed_{false};
};
using Ring = RingOf<Block>;

} // namespace iio_stream::detail
