// SPDX-License-Identifier: MIT
#include "serve/feed.hpp"

namespace iio_stream::serve {

std::optional<Feed::Taken> Feed::take()
{
    const std::lock_guard lock(mutex_);
    if (blocks_.empty()) {
        if (error_)
            throw Error(*error_);
        news_.clear();
        return std::nullopt;
    }
    Block block = std::move(blocks_.front());
    blocks_.pop_front();
    return Taken{std::move(block), capture_};
}

void Feed::add(const Block& block)
{
    const std::lock_guard lock(mutex_);
    blocks_.push_back(block.share());
    news_.set();
}

void Feed::fail(const Error& error)
{
    const std::lock_guard lock(mutex_);
    error_ = error;
    news_.set();
}

std::optional<std::uint64_t> Feed::oldest() const
{
    const std::lock_guard lock(mutex_);
    return blocks_.empty() ? std::nullopt : std::optional(blocks_.front().sequence());
}

void Feed::drop_front()
{
    dropped_ += blocks_.front().samples();
    blocks_.pop_front();
}

void Feed::drop_oldest()
{
    const std::lock_guard lock(mutex_);
    if (!blocks_.empty())
        drop_front();
}

void Feed::drop_all()
{
    const std::lock_guard lock(mutex_);
    while (!blocks_.empty())
        drop_front();
}

void Feed::begin_again()
{
    const std::lock_guard lock(mutex_);
    error_.reset();
    ++capture_;
}

} // namespace iio_stream::serve
