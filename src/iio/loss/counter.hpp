// SPDX-License-Identifier: MIT
#pragma once

#include "core/loss/loss_bound.hpp"
#include "core/loss/sample_tracker.hpp"
#include "iio/loss/block_lateness.hpp"
#include "iio/loss/rate_watch.hpp"
#include "iio_stream/block.hpp"
#include "iio_stream/format.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace iio_stream::iio {

/// Detects losses exactly, from a counter that the device puts into its data (option counter=).
/// A counter with few bits soon repeats, and does not show a loss of exactly a multiple of its
/// period. For such losses other evidence counts as well: the queue, the overflow register and the
/// times of the blocks. Thread: one.
class Counter {
public:
    /// Makes a counter from "channel:NAME" or "header:BYTES/EVERY"; returns null for "none". Throws
    /// a usage Error for any other text, and if the format does not contain the channel.
    static std::unique_ptr<Counter> make(const std::string& text, const Format& format);
    virtual ~Counter() = default;

    /// How blocks are timed: by the interrupt at their end, or by their arrival.
    enum class Dated { at_end, on_arrival };
    /// Starts a stream of blocks of `block_size` bytes at `rate` samples per second (0 = unknown).
    /// `rates`, if given, follows the rate from then on. Throws a usage Error if the blocks are too
    /// small or too large for the counter.
    void reset(std::size_t block_size, double rate = 0, Dated dated = Dated::on_arrival,
               RateWatch* rates = nullptr);
    /// Reports to the tracker the gaps before and inside the samples of a block that ended, or
    /// arrived, at `ns`. The tracker must be at the start of the block.
    void report_gaps(std::span<const std::byte> samples, detail::SampleTracker& tracker,
                     std::int64_t ns);
    /// Call at the end of the stream. Reports the losses that could not be decided earlier.
    void finish(detail::SampleTracker& tracker);

    /// Whether a loss can be so long that the counter repeats; other evidence then counts too. A
    /// counter of 32 bits or more takes so long to repeat that a stream without blocks would end
    /// first.
    virtual bool may_repeat() const noexcept = 0;
    /// Adds a gap that other evidence shows. Call only if may_repeat(). The gap is reported with
    /// the block that contains its last sample, unless the counter shows a loss there or the loss
    /// is too short for the counter to repeat.
    void add_evidence(const Gap& gap) noexcept;

protected:
    explicit Counter(std::size_t sample_bytes) : sample_bytes_(sample_bytes) {}

    virtual void begin(std::size_t block_size) = 0;
    virtual void search_in(std::span<const std::byte> samples, detail::SampleTracker& tracker) = 0;
    virtual void end_search(detail::SampleTracker& tracker) { (void)tracker; }
    /// Samples after which the counter repeats; 0: never, or not known yet.
    virtual std::uint64_t turn() const noexcept = 0;
    /// Reports a loss that the counter shows.
    void report(const Gap& gap, detail::SampleTracker& tracker);
    /// The gap for a loss that is known to be `least` samples plus any multiple of `turn`. `most`:
    /// the upper bound that the clock gives. Without such a bound, a turn of 2^32 samples or more
    /// counts as longer than any loss. `turn` 0 means that the counter never repeats.
    static Gap gap_of(std::uint64_t from, std::uint64_t until, std::uint64_t least,
                      std::uint64_t turn, std::uint64_t most) noexcept;

    /// The most samples that can have been lost from `ns` to the end of the latest block, if `came`
    /// samples have arrived in that time. Reads the current rate.
    std::uint64_t most_since(std::int64_t ns, std::uint64_t came) noexcept;

    const std::size_t sample_bytes_;
    detail::LossBound bound_;

private:
    struct Interval {
        std::uint64_t first, last; ///< positions in the stream
    };
    static constexpr std::size_t kMostEvidence = 16, kMostShown = 32;

    void watch_times(detail::SampleTracker& tracker, std::int64_t ns, std::uint64_t samples);
    void decide_until(std::uint64_t position, detail::SampleTracker& tracker);
    void decide(Gap gap, detail::SampleTracker& tracker) const;

    double rate_ = 0;
    bool at_end_ = false; ///< blocks are timed by the interrupt at their end
    RateWatch* rates_ = nullptr;
    unsigned rate_changes_ = 0;
    std::uint64_t lost_ = 0; ///< least number of samples that the counter has shown to be lost
    BlockLateness lateness_;
    std::uint64_t lateness_turn_ = 0;
    std::array<Gap, kMostEvidence> evidence_{}; ///< not yet decided
    std::size_t evidence_count_ = 0;
    std::array<Interval, kMostShown> shown_{}; ///< where the counter has recently shown losses
    std::size_t shown_count_ = 0;
};

/// A channel that counts samples. The class examines the first and last sample of a block, and
/// others only if these two do not match. A counter of n bits gives a loss only modulo 2^n; the
/// clock limits how many times it can have wrapped. A counter that steps back has restarted.
class ChannelCounter final : public Counter {
public:
    ChannelCounter(const Format& format, const std::string& channel);

    bool may_repeat() const noexcept override { return mask_ < UINT32_MAX; }

private:
    void begin(std::size_t block_size) override;
    std::uint64_t turn() const noexcept override { return mask_ + 1; }
    void search_in(std::span<const std::byte> samples, detail::SampleTracker& tracker) override;
    Gap gap_at(std::uint64_t offset, std::uint64_t jump) noexcept;
    std::uint64_t value(std::span<const std::byte> samples, std::uint64_t n) const noexcept;
    void search(std::span<const std::byte> samples, std::uint64_t first, std::uint64_t last,
                detail::SampleTracker& tracker);

    Channel channel_;
    std::uint64_t mask_;
    std::uint64_t next_ = 0;  ///< the value expected next
    std::uint64_t count_ = 0; ///< samples in the block
    /// Upper bound of the samples lost in and just before the block, if computed.
    std::optional<std::uint64_t> most_;
    bool started_ = false;
};

} // namespace iio_stream::iio
