// SPDX-License-Identifier: MIT
#include "serve/reader_queue.hpp"

#include "core/loss/losses.hpp"

#include <utility>

namespace iio_stream::serve {

std::optional<ReaderQueue::Taken> ReaderQueue::take()
{
    const std::lock_guard lock(mutex_);
    if (blocks_.empty()) {
        if (error_)
            throw Error(*error_);
        ready_event_.clear();
        return std::nullopt;
    }
    Block block = std::move(blocks_.front());
    blocks_.pop_front();
    return Taken{std::move(block), capture_};
}

void ReaderQueue::add(const Block& block)
{
    const std::lock_guard lock(mutex_);
    blocks_.push_back(block.share());
    ready_event_.set();
}

void ReaderQueue::fail(const Error& error)
{
    const std::lock_guard lock(mutex_);
    error_ = error;
    ready_event_.set();
}

std::optional<std::uint64_t> ReaderQueue::oldest() const
{
    const std::lock_guard lock(mutex_);
    return blocks_.empty() ? std::nullopt : std::optional(blocks_.front().sequence());
}

void ReaderQueue::drop_oldest()
{
    const std::lock_guard lock(mutex_);
    if (blocks_.empty())
        return;
    dropped_ += blocks_.front().samples();
    blocks_.pop_front();
}

void ReaderQueue::end_capture()
{
    const std::lock_guard lock(mutex_);
    for (const Block& block : blocks_)
        unsent_ += block.samples();
    blocks_.clear();
}

void ReaderQueue::restart(std::uint64_t most)
{
    const std::lock_guard lock(mutex_);
    error_.reset();
    ++capture_;
    const std::uint64_t unsent = std::exchange(unsent_, 0);
    detail::add_loss(restarts_, unsent, detail::add_losses(unsent, most));
}

GapTotals ReaderQueue::restarts() const
{
    const std::lock_guard lock(mutex_);
    return restarts_;
}

} // namespace iio_stream::serve
