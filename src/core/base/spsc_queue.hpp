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

/// A lock-free queue with one producer and one consumer. Only the constructor allocates.
///
/// Memory orders: push() publishes an item by storing `tail_`, and pop() frees its slot by storing
/// `head_`. Both stores have release order, and the other side loads the index with acquire order.
/// Each side loads its own index with relaxed order, because only that side stores it. The store to
/// `tail_` is also sequentially consistent, so that a consumer can sleep safely. The consumer
/// announces that it is about to sleep and then calls is_empty(), which loads `tail_` in the same
/// total order. The producer reads the announcement after push(). So either the consumer sees the
/// item or the producer sees the announcement.
///
/// Thread: the producer's functions on one thread at a time, and the consumer's functions on one
/// thread at a time. Several threads can share a side if a mutex serializes them. The other
/// functions can be called on any thread.
template <typename T>
class SpscQueue {
    static_assert(std::is_nothrow_move_constructible_v<T>);

public:
    /// `first` is the number of the first item. Only tests set it.
    explicit SpscQueue(std::size_t capacity, std::size_t first = 0)
        : capacity_(capacity),
          mask_(std::bit_ceil(capacity) - 1),
          items_(std::make_unique<std::optional<T>[]>(mask_ + 1)),
          tail_(first),
          head_(first)
    {}

    /// Producer. Returns false and destroys `item` if the queue is full.
    bool push(T item) noexcept
    {
        const std::size_t tail = tail_.load(std::memory_order_relaxed);
        if (tail - head_.load(std::memory_order_acquire) >= capacity_)
            return false;
        items_[tail & mask_].emplace(std::move(item));
        tail_.store(tail + 1, std::memory_order_seq_cst);
        return true;
    }
    /// Producer. Returns the newest item, which the caller may modify. The queue must not be empty,
    /// and the consumer must not call anything meanwhile.
    T& back() noexcept { return *items_[(tail_.load(std::memory_order_relaxed) - 1) & mask_]; }

    /// Consumer. Returns the oldest item without removing it, or nullptr if the queue is empty.
    T* front() noexcept
    {
        const std::size_t head = head_.load(std::memory_order_relaxed);
        return head == tail_.load(std::memory_order_acquire) ? nullptr : &*items_[head & mask_];
    }
    /// Consumer. Removes the oldest item and returns it; nullopt if the queue is empty.
    std::optional<T> pop() noexcept
    {
        const std::size_t head = head_.load(std::memory_order_relaxed);
        if (head == tail_.load(std::memory_order_acquire))
            return std::nullopt;
        std::optional<T> item = std::move(items_[head & mask_]);
        items_[head & mask_].reset(); // destroys the moved-from item
        head_.store(head + 1, std::memory_order_release);
        return item;
    }
    /// Consumer. Destroys the items that are in the queue now.
    void clear() noexcept
    {
        for (std::size_t left = size(); left > 0; --left)
            (void)pop();
    }
    /// Consumer. Returns whether the queue is empty. The load is in one total order with the store
    /// in push(), as described above.
    bool is_empty() const noexcept
    {
        return tail_.load(std::memory_order_seq_cst) == head_.load(std::memory_order_relaxed);
    }

    /// The number of items. On the producer's thread, the real number can already be lower; on the
    /// consumer's thread, it can already be higher.
    std::size_t size() const noexcept
    {
        // The head is loaded first. It never passes the tail, so the difference is not negative.
        const std::size_t head = head_.load(std::memory_order_acquire);
        return tail_.load(std::memory_order_acquire) - head;
    }
    bool is_full() const noexcept { return size() >= capacity_; }
    std::size_t capacity() const noexcept { return capacity_; }

private:
    std::size_t capacity_;
    std::size_t mask_; ///< a power of two minus one, so the indices below can wrap around
    std::unique_ptr<std::optional<T>[]> items_;
    alignas(64) std::atomic<std::size_t> tail_; ///< items pushed, stored by the producer
    alignas(64) std::atomic<std::size_t> head_; ///< items popped, stored by the consumer
};

} // namespace iio_stream::detail
