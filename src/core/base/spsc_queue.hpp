// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace iio_stream::detail {

/// A queue from one producer to one consumer, without a lock. Only the constructor allocates.
///
/// Memory orders: push() publishes an item by storing `tail_`, and pop() frees its place by storing
/// `head_`. Both stores release what was written before them, and the other side loads them with
/// acquire. Each side loads its own index relaxed, because no one else stores it. The store of
/// `tail_` is also sequentially consistent, for a consumer that sleeps: it announces that, then
/// calls is_empty(), which loads `tail_` in the same order; the producer reads the announcement
/// after push(). So either the consumer sees the item or the producer sees the announcement.
///
/// Thread: the producer's functions on one thread at a time, the consumer's on one thread at a
/// time; several threads may share a side if a mutex orders them. The rest on any thread.
template <typename T>
class SpscQueue {
    static_assert(std::is_nothrow_move_constructible_v<T>);

public:
    /// `first`: the number of the first item, which only a test chooses.
    explicit SpscQueue(std::size_t capacity, std::size_t first = 0)
        : capacity_(capacity),
          mask_(std::bit_ceil(capacity) - 1),
          items_(std::make_unique<std::optional<T>[]>(mask_ + 1)),
          tail_(first),
          head_(first)
    {}

    /// Producer. False if the queue is full; `item` is then destroyed.
    bool push(T item) noexcept
    {
        const std::size_t tail = tail_.load(std::memory_order_relaxed);
        if (tail - head_.load(std::memory_order_acquire) >= capacity_)
            return false;
        items_[tail & mask_].emplace(std::move(item));
        tail_.store(tail + 1, std::memory_order_seq_cst);
        return true;
    }
    /// Producer, while the consumer certainly calls nothing and the queue is not empty: the newest
    /// item, which may be changed.
    T& back() noexcept { return *items_[(tail_.load(std::memory_order_relaxed) - 1) & mask_]; }

    /// Consumer. The oldest item, which stays in the queue; nullptr if there is none.
    T* front() noexcept
    {
        const std::size_t head = head_.load(std::memory_order_relaxed);
        return head == tail_.load(std::memory_order_acquire) ? nullptr : &*items_[head & mask_];
    }
    /// Consumer. Takes the oldest item out.
    std::optional<T> pop() noexcept
    {
        const std::size_t head = head_.load(std::memory_order_relaxed);
        if (head == tail_.load(std::memory_order_acquire))
            return std::nullopt;
        std::optional<T> item = std::move(items_[head & mask_]);
        items_[head & mask_].reset(); // a popped item does not stay in its place
        head_.store(head + 1, std::memory_order_release);
        return item;
    }
    /// Consumer. Destroys the items that are in the queue now.
    void clear() noexcept
    {
        for (std::size_t left = size(); left > 0; --left)
            (void)pop();
    }
    /// Consumer. Whether there is no item, in one order with push(): see above.
    bool is_empty() const noexcept
    {
        return tail_.load(std::memory_order_seq_cst) == head_.load(std::memory_order_relaxed);
    }

    /// The number of items. On the producer's thread it may have fallen since, on the consumer's it
    /// may have risen.
    std::size_t size() const noexcept
    {
        const std::size_t head =
            head_.load(std::memory_order_acquire); // first: it never passes the tail
        return tail_.load(std::memory_order_acquire) - head;
    }
    bool is_full() const noexcept { return size() >= capacity_; }
    std::size_t capacity() const noexcept { return capacity_; }

private:
    std::size_t capacity_;
    std::size_t mask_; ///< a power of two less one: the indices below may wrap around
    std::unique_ptr<std::optional<T>[]> items_;
    alignas(64) std::atomic<std::size_t> tail_; ///< items pushed, stored by the producer
    alignas(64) std::atomic<std::size_t> head_; ///< items popped, stored by the consumer
};

} // namespace iio_stream::detail
