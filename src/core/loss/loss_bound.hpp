// SPDX-License-Identifier: MIT
#pragma once

#include "core/loss/interrupt_latency.hpp"
#include "iio_stream/block.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace iio_stream::detail {

/// Computes an upper bound for the number of lost samples from a device's rate and the times of its
/// blocks: the number of samples produced in that time minus the number that arrived.
/// Thread: one.
class LossBound {
public:
    /// Call before the device is switched on. `rate`: maximum samples per second; 0 = unknown.
    /// `at_end`: the time of a block is the time of the interrupt at its end; otherwise it is the
    /// time of its arrival, which can be any time later.
    void reset(double rate, bool at_end, std::int64_t start_ns) noexcept
    {
        *this = {};
        rate_ = rate;
        at_end_ = at_end;
        start_ns_ = ns_ = before_ns_ = start_ns;
    }

    /// Sets the highest rate that the device may have had since the start; 0 = unknown.
    void rate_up_to(double rate) noexcept { rate_ = rate; }

    /// Adds the next good block, which ended or arrived at `ns`.
    void block(std::int64_t ns, std::uint64_t samples) noexcept
    {
        if (at_end_ && came_ != 0)
            before_ns_ = std::max(start_ns_, ns_ - kLongestInterruptLatency);
        ns_ = std::max(ns_, ns);
        came_ += samples;
    }

    /// The earliest time at which a sample of the latest block, or the last sample before it, could
    /// have been produced.
    std::int64_t before_ns() const noexcept { return before_ns_; }

    /// An upper bound for the number of samples that were produced from `since_ns` to the end of
    /// the latest block and are not among the `came` samples that arrived. Returns kUnknown if the
    /// rate is unknown, or if more samples arrived than the rate allows, which shows that it is
    /// wrong. The result is never more than the bound for the whole stream, which does not depend
    /// on the latency of the interrupt.
    std::uint64_t most(std::int64_t since_ns, std::uint64_t came) const noexcept
    {
        return std::min(missing(start_ns_, came_), missing(since_ns, came));
    }

    /// The bound for the whole stream.
    std::uint64_t most_since_start() const noexcept { return missing(start_ns_, came_); }

private:
    /// The real rate can exceed the stated rate by at most one part in this many.
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
