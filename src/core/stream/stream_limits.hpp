// SPDX-License-Identifier: MIT
#pragma once

#include "core/stream/stream_counters.hpp"
#include "core/stream/stream_state.hpp"
#include "iio_stream/block.hpp"

#include <cstdint>
#include <optional>

namespace iio_stream::detail {

/// How long a stream is: a number of samples, a time, or both.
///
/// A stream with a known rate delivers exactly the samples of that time. Once the rate has changed,
/// the blocks' own times say how many there are. Without a rate, and while samples are repeated,
/// the clock decides. Thread: one.
class StreamLimits {
public:
    explicit StreamLimits(const StreamCounters& counters) : counters_(counters) {}

    /// `samples`: kUnknown = until stopped. `by`: the option that says so. `duration_ns`: 0 = none.
    /// `fills`: zeros are delivered in place of lost samples.
    void reset(std::uint64_t samples, EndReason by, std::int64_t duration_ns, bool fills) noexcept;
    /// Samples per second, before the start; 0 = unknown.
    void set_pace(double rate) noexcept { pace_ = rate; }
    /// The time begins now, perhaps once more.
    void begin() noexcept;
    /// From now on the time is by the clock, whatever the rate.
    void leave_rate() noexcept { by_clock_ = true; }

    std::uint64_t wanted() const noexcept { return wanted_; }
    std::uint64_t delivered() const noexcept { return delivered_; }
    /// Samples still to deliver, as far as a number of them is known.
    std::uint64_t left() const noexcept { return wanted_ - delivered_; }
    EndReason by() const noexcept { return by_; } ///< what says so
    /// Whether it has begun, and a time is to end it; when by the clock.
    bool timed() const noexcept { return end_ns_ != 0; }
    std::int64_t end_ns() const noexcept { return end_ns_; }
    /// Whether that time means a number of samples, not just a time.
    bool counts_time() const noexcept { return pace_ > 0 && !by_clock_; }
    /// If so: how many are left of it.
    std::uint64_t left_of_time() const noexcept;
    /// How much longer than by the clock the last of them may take: they exist, but in a block that
    /// is not full yet.
    std::int64_t patience_ns(std::size_t block_samples, std::int64_t timeout_ns) const noexcept;
    /// The position after the last sample, as far as it is known; kUnknown.
    std::uint64_t end_position() const noexcept;

    void deliver(std::uint64_t samples) noexcept { delivered_ += samples; }
    /// The time ends after this many more. False if it would have ended before anyway.
    bool want_no_more_than(std::uint64_t samples) noexcept;
    /// The source's rate may have changed. True if so.
    bool follow_rate(const Retuning& retuning) noexcept;
    /// The same of each block that comes, complete at `ns`.
    void follow_block(const Block& filled, std::size_t sample_bytes, std::int64_t ns) noexcept;

private:
    std::uint64_t made() const noexcept;

    const StreamCounters& counters_;
    std::uint64_t wanted_ = kUnknown, delivered_ = 0;
    EndReason by_ = EndReason::samples;
    std::int64_t duration_ns_ = 0, end_ns_ = 0;
    double pace_ = 0;
    std::optional<std::uint64_t>
        due_; ///< the rate has changed: samples of the time, as far as is known
    std::uint64_t paced_from_ = 0; ///< position from which on it is pace_ for certain
    bool due_holds_ = false;       ///< due_ is from blocks after that
    bool fills_ = false, by_clock_ = false;
};

} // namespace iio_stream::detail
