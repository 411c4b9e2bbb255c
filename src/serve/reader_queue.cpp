// SPDX-License-Identifier: MIT
#include "serve/reader_queue.hpp"

#include "core/loss/losses.hpp"

#include <algorithm>
#include <utility>

namespace iio_stream::serve {

SharedBlock ReaderQueue::take()
{
    const std::lock_guard lock(mutex_);
    if (blocks_.empty()) {
        if (error_)
            throw Error(*error_);
        signalled_ = false;
        ready_event_.clear();
        return nullptr;
    }
    SharedBlock block = std::move(blocks_.front());
    blocks_.pop_front();
    return block;
}

void ReaderQueue::add(const SharedBlock& block)
{
    bool signalled = false;
    {
        const std::lock_guard lock(mutex_);
        blocks_.push_back(block);
        signalled = std::exchange(signalled_, true);
    }
    if (!signalled) // without the lock, for which the reader would have to wait at once
        ready_event_.set();
}

void ReaderQueue::fail(const Error& error)
{
    const std::lock_guard lock(mutex_);
    error_ = error;
    signalled_ = true;
    ready_event_.set();
}

std::size_t ReaderQueue::size() const
{
    const std::lock_guard lock(mutex_);
    return blocks_.size();
}

std::optional<std::uint64_t> ReaderQueue::oldest() const
{
    const std::lock_guard lock(mutex_);
    return blocks_.empty() ? std::nullopt : std::optional(blocks_.front()->block.sequence());
}

void ReaderQueue::drop_oldest()
{
    const std::lock_guard lock(mutex_);
    if (blocks_.empty())
        return;
    dropped_ += blocks_.front()->samples();
    blocks_.pop_front();
}

void ReaderQueue::end_capture()
{
    const std::lock_guard lock(mutex_);
    std::uint64_t unsent = unsent_.value_or(0);
    for (const SharedBlock& block : blocks_)
        unsent += block->samples();
    unsent_ = unsent;
    blocks_.clear();
}

void ReaderQueue::begin_capture()
{
    const std::lock_guard lock(mutex_);
    error_.reset();
}

void ReaderQueue::add_pause(std::uint64_t most)
{
    const std::lock_guard lock(mutex_);
    if (!unsent_)
        return;
    detail::add_loss(restarts_, *unsent_, detail::add_losses(*unsent_, most));
    unsent_.reset();
}

GapTotals ReaderQueue::restarts() const
{
    const std::lock_guard lock(mutex_);
    return restarts_;
}

bool drop_oldest_of_slow(const ReaderQueues& queues, std::size_t lead)
{
    std::size_t shortest = SIZE_MAX, longest = 0;
    std::optional<std::uint64_t> oldest;
    for (const auto& queue : queues) {
        shortest = std::min(shortest, queue->size());
        longest = std::max(longest, queue->size());
        if (const auto its = queue->oldest())
            oldest = std::min(oldest.value_or(*its), *its);
    }
    if (!oldest || longest - shortest < lead)
        return false;
    for (const auto& queue : queues)
        if (queue->oldest() == oldest)
            queue->drop_oldest();
    return true;
}

} // namespace iio_stream::serve
