// SPDX-License-Identifier: MIT
#pragma once

#include "core/loss/losses.hpp"
#include "iio_stream/stats.hpp"

#include <atomic>

namespace iio_stream::detail {

/// Counts the samples that a source has delivered and lost. Thread: one thread counts; fill() on
/// any thread.
class StreamCounters {
public:
    void reset() noexcept;
    /// Call if the source cannot detect losses: the number of lost samples is then unknown.
    void lose_count() noexcept { lost_max_ = kUnknown; }
    void add_block(std::uint64_t samples, std::uint64_t bytes) noexcept;
    void add_gap(const Gap& gap) noexcept;

    std::uint64_t samples() const noexcept { return samples_.load(std::memory_order_relaxed); }
    /// Samples that are certainly lost.
    std::uint64_t lost() const noexcept { return lost_min_.load(std::memory_order_relaxed); }
    void fill(Stats& stats) const noexcept;

private:
    std::atomic<std::uint64_t> samples_{0}, bytes_{0}, blocks_{0};
    std::atomic<std::uint64_t> certain_{0}, possible_{0}, lost_min_{0}, lost_max_{0};
    CertainLosses certain_losses_;
};

} // namespace iio_stream::detail
