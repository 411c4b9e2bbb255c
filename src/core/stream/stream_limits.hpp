// SPDX-License-Identifier: MIT
#pragma once

#include "core/stream/stream_counters.hpp"
#include "core/stream/stream_state.hpp"
#include "iio_stream/block.hpp"

#include <cstdint>
#include <optional>

namespace iio_stream::detail {

/// The limits of a stream's length: a number of samples, a time limit, or both.
///
/// If its rate is known, the stream delivers exactly the number of samples that the time limit
/// allows. Once the rate has changed, this number is computed from the times of the blocks. Without
/// a rate, and while samples are repeated, the clock decides. Thread: one.
class StreamLimits {
public:
    explicit StreamLimits(const StreamCounters& counters) : counters_(counters) {}

    /// `samples`: kUnknown = until stopped. `by`: the option that sets this number. `duration_ns`:
    /// the time limit; 0 = none. `fills`: zeros are delivered in place of lost samples.
    void reset(std::uint64_t samples, EndReason by, std::int64_t duration_ns, bool fills) noexcept;
    /// Sets the rate in samples per second; 0 = unknown. Call before the start.
    void set_pace(double rate) noexcept { pace_ = rate; }
    /// Starts the time limit now. A further call restarts it.
    void begin() noexcept;
    /// From now on, the clock decides when the time limit is reached, whatever the rate.
    void leave_rate() noexcept { by_clock_ = true; }

    std::uint64_t wanted() const noexcept { return wanted_; }
    std::uint64_t delivered() const noexcept { return delivered_; }
    /// Samples still to deliver. The result is very large if the number is unlimited.
    std::uint64_t left() const noexcept { return wanted_ - delivered_; }
    EndReason by() const noexcept { return by_; } ///< the option that sets wanted()
    /// Whether a time limit has started. end_ns() is its end by the clock (CLOCK_MONOTONIC).
    bool timed() const noexcept { return end_ns_ != 0; }
    std::int64_t end_ns() const noexcept { return end_ns_; }
    /// Whether the time is counted in samples instead of by the clock.
    bool counts_time() const noexcept { return pace_ > 0 && !by_clock_; }
    /// The number of samples until the time limit. Valid only if counts_time().
    std::uint64_t left_of_time() const noexcept;
    /// How long after end_ns(), in ns, to wait for the last samples. They exist, but in a block
    /// that is not full yet.
    std::int64_t patience_ns(std::size_t block_samples, std::int64_t timeout_ns) const noexcept;
    /// The position after the last sample of the source; kUnknown if it is not known.
    std::uint64_t end_position() const noexcept;

    void deliver(std::uint64_t samples) noexcept { delivered_ += samples; }
    /// Ends the stream after this many more samples, with EndReason::duration. Returns false and
    /// changes nothing if it ends by then anyway.
    bool want_no_more_than(std::uint64_t samples) noexcept;
    /// Adopts the rate of a retuning. Returns true if the rate has changed.
    bool follow_rate(const Retuning& retuning) noexcept;
    /// After a change of the rate, recomputes the number of samples until the time limit from a
    /// block that was complete at `ns`. Call for each block.
    void follow_block(const Block& filled, std::size_t sample_bytes, std::int64_t ns) noexcept;

private:
    std::uint64_t made() const noexcept;

    const StreamCounters& counters_;
    std::uint64_t wanted_ = kUnknown, delivered_ = 0;
    EndReason by_ = EndReason::samples;
    std::int64_t duration_ns_ = 0, end_ns_ = 0;
    double pace_ = 0;
    /// The number of samples from the start to the time limit. It is empty until the rate changes,
    /// and then kUnknown until the number is computed.
    std::optional<std::uint64_t> due_;
    std::uint64_t paced_from_ = 0; ///< position from which the rate is certainly pace_
    bool due_holds_ = false;       ///< due_ is from blocks after paced_from_
    bool fills_ = false, by_clock_ = false;
};

} // namespace iio_stream::detail
