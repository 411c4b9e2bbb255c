// SPDX-License-Identifier: MIT
#pragma once

#include <cassert>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace iio_stream::detail {

/// A queue of at most `capacity` items. It allocates memory only in reset(). Thread: one.
template <typename T>
class Fifo {
public:
    void reset(std::size_t capacity)
    {
        items_.clear();
        items_.resize(capacity);
        first_ = size_ = 0;
    }
    void push(T item) noexcept
    {
        assert(size_ < items_.size());
        items_[(first_ + size_++) % items_.size()].emplace(std::move(item));
    }
    T pop() noexcept
    {
        assert(size_ > 0);
        T item = std::move(*items_[first_]);
        items_[first_].reset();
        first_ = (first_ + 1) % items_.size();
        --size_;
        return item;
    }
    T& front() noexcept { return *items_[first_]; }
    const T& front() const noexcept { return *items_[first_]; }
    T& back() noexcept { return *items_[(first_ + size_ - 1) % items_.size()]; }
    T& at(std::size_t i) noexcept { return *items_[(first_ + i) % items_.size()]; }
    const T& at(std::size_t i) const noexcept { return *items_[(first_ + i) % items_.size()]; }
    std::size_t size() const noexcept { return size_; }
    bool empty() const noexcept { return size_ == 0; }
    void clear() noexcept
    {
        while (!empty())
            (void)pop();
    }

private:
    std::vector<std::optional<T>> items_;
    std::size_t first_ = 0, size_ = 0;
};

} // namespace iio_stream::detail
