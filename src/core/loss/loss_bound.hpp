// SPDX-License-Identifier: MIT
#pragma once

#include "core/loss/interrupt_latency.hpp"
#include "iio_stream/block.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace iio_stream::detail {

/// The most samples that can have been lost, from a device's rate and the times of its blocks:
/// samples produced in that time that did not arrive.
/// Thread: one.
class LossBound {
public:
    /// Call before the device is switched on. `rate`: samples per second at most, 0 = unknown.
    /// `at_end`: blocks are timed by the interrupt at their end; otherwise by their arrival, which
    /// may be any time later.
    void reset(double rate, bool at_end, std::int64_t start_ns) noexcept
    {
        *this = {};
        rate_ = rate;
        at_end_ = at_end;
        start_ns_ = ns_ = before_ns_ = start_ns;
    }

    /// The rate may have been this high at any time since the start; 0 = unknown.
    void rate_up_to(double rate) noexcept { rate_ = rate; }

    /// The next good block.
    void block(std::int64_t ns, std::uint64_t samples) noexcept
    {
        if (at_end_ && came_ != 0)
            before_ns_ = std::max(start_ns_, ns_ - kLongestInterruptLatency);
        ns_ = std::max(ns_, ns);
        came_ += samples;
    }

    /// None of its samples, nor the last one before it, was produced earlier.
    std::int64_t before_ns() const noexcept { return before_ns_; }

    /// An upper bound for samples produced from `since_ns` to the block's end but not among the
    /// `came` samples that arrived. kUnknown without a rate, or if more came than the rate allows:
    /// then it is not the true one. A bound that reaches back to the start of the stream does not
    /// depend on the interrupt's latency.
    std::uint64_t most(std::int64_t since_ns, std::uint64_t came) const noexcept
    {
        return std::min(missing(start_ns_, came_), missing(since_ns, came));
    }

    /// The same for the whole stream.
    std::uint64_t most_since_start() const noexcept { return missing(start_ns_, came_); }

private:
    /// How far the real rate may exceed the stated one: by one part in this many.
    static constexpr double kRateSlack = 64;

    std::uint64_t missing(std::int64_t since_ns, std::uint64_t came) const noexcept
    {
        const double made =
            std::ceil(static_cast<double>(ns_ - since_ns) * 1e-9 * rate_ * (1 + 1 / kRateSlack));
        if (!(rate_ > 0) || made < static_cast<double>(came) || made > 1e18)
            return kUnknown;
        return static_cast<std::uint64_t>(made) - came;
    }

    double rate_ = 0;
    bool at_end_ = false;
    std::int64_t start_ns_ = 0, ns_ = 0, before_ns_ = 0;
    std::uint64_t came_ = 0;
};

} // namespace iio_stream::detail
