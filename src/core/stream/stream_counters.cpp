// SPDX-License-Identifier: MIT
#include "core/stream/stream_counters.hpp"

namespace iio_stream::detail {

namespace {

// Only one thread writes, so no locked instruction is needed.
void add(std::atomic<std::uint64_t>& counter, std::uint64_t more) noexcept
{
    counter.store(counter.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
}

} // namespace

void StreamCounters::reset() noexcept
{
    samples_ = bytes_ = blocks_ = certain_ = possible_ = lost_min_ = lost_max_ = 0;
    certain_losses_ = {};
}

void StreamCounters::add_block(std::uint64_t samples, std::uint64_t bytes) noexcept
{
    add(samples_, samples);
    add(bytes_, bytes);
    add(blocks_, 1);
}

void StreamCounters::add_gap(const Gap& gap) noexcept
{
    if (!gap.certain() || certain_losses_.is_another(gap))
        add(gap.certain() ? certain_ : possible_, 1);
    lost_min_.store(add_least(lost(), gap.lost_min), std::memory_order_relaxed);
    const std::uint64_t most = lost_max_.load(std::memory_order_relaxed);
    lost_max_.store(add_losses(most, gap.lost_max), std::memory_order_relaxed);
}

void StreamCounters::fill(Stats& stats) const noexcept
{
    const auto value = [](const auto& counter) { return counter.load(std::memory_order_relaxed); };
    stats.samples = value(samples_);
    stats.bytes = value(bytes_);
    stats.blocks = value(blocks_);
    stats.gaps = {value(certain_), value(possible_), value(lost_min_), value(lost_max_)};
}

} // namespace iio_stream::detail
