// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/block.hpp"
#include "sys/event.hpp"

#include <atomic>
#include <memory>
#include <optional>

namespace iio_stream::detail {

/// Passes leases, or blocks, from one thread to another without a lock; the event wakes a sleeping
/// taker.
/// Thread: push() on the giving one; pop(), arm() and disarm() on the taking one.
template <typename T>
class RingOf {
public:
    explicit RingOf(std::size_t capacity)
        : capacity_(capacity), items_(std::make_unique<std::optional<T>[]>(capacity))
    {}

    /// The caller has made sure that there is room: no more items exist than fit.
    void push(T item) noexcept
    {
        const std::size_t tail = tail_.load(std::memory_order_relaxed);
        items_[tail % capacity_].emplace(std::move(item));
        // Sequentially consistent with arm(): either the taker sees the item or this sees `armed_`.
        tail_.store(tail + 1, std::memory_order_seq_cst);
        wake();
    }

    std::optional<T> pop() noexcept
    {
        const std::size_t head = head_.load(std::memory_order_relaxed);
        if (head == tail_.load(std::memory_order_acquire))
            return std::nullopt;
        std::optional<T> item = std::move(items_[head % capacity_]);
        items_[head % capacity_].reset();
        head_.store(head + 1, std::memory_order_release);
        return item;
    }

    std::size_t size() const noexcept
    {
        return tail_.load(std::memory_order_acquire) - head_.load(std::memory_order_acquire);
    }

    /// Call before waiting for fd(); false if there is something to pop, or call() was called.
    bool arm() noexcept
    {
        armed_.store(true, std::memory_order_seq_cst);
        if (tail_.load(std::memory_order_seq_cst) == head_.load(std::memory_order_relaxed))
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
    std::size_t capacity_;
    std::unique_ptr<std::optional<T>[]> items_;
    sys::Event event_;
    std::atomic<bool> armed_{false};
    alignas(64) std::atomic<std::size_t> tail_{0}; // written by the giver
    alignas(64) std::atomic<std::size_t> head_{0}; // written by the taker
};
using Ring = RingOf<Block>;

} // namespace iio_stream::detail
