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

/// Detects losses exactly, by a counter that the device puts into its data (option counter=).
/// A counter of few bits does not see a loss after which it repeats. For these losses other
/// evidence counts as well: the queue, the overflow register and the times of the blocks. Thread:
/// one.
class Counter {
public:
    /// "channel:NAME" or "header:BYTES/EVERY"; null for "none". Throws a usage Error for anything
    /// else, and for what the format does not contain.
    static std::unique_ptr<Counter> make(const std::string& text, const Format& format);
    virtual ~Counter() = default;

    /// How blocks are timed: by the interrupt at their end, or by their arrival.
    enum class Dated { at_end, on_arrival };
    /// Starts a stream of such blocks at that rate (0 = unknown), which `rates`, if given, watches
    /// from then on. Throws a usage Error if blocks are too small.
    void reset(std::size_t block_size, double rate = 0, Dated dated = Dated::on_arrival,
               RateWatch* rates = nullptr);
    /// Reports the gaps before and inside the samples of a block that ended, or came, at `ns`, to
    /// the tracker, which is at the block's start.
    void report_gaps(std::span<const std::byte> samples, detail::SampleTracker& tracker,
                     std::int64_t ns);
    /// At the end of the stream: reports what could not be decided.
    void finish(detail::SampleTracker& tracker);

    /// Whether a loss can be so long that the counter repeats: then other evidence counts, too. One
    /// of 32 bits repeats after a time in which a stream without blocks would end.
    virtual bool may_repeat() const noexcept = 0;
    /// What other evidence says, if may_repeat(). It is reported with the block that has its last
    /// sample, unless the counter shows a loss there or the loss is too short for the counter to
    /// repeat.
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
    /// The loss of which the counter says only that it is `least`, or that plus a multiple of
    /// `turn`; `most`: by the clock. If the clock cannot tell, a turn of 2^32 samples counts as
    /// longer than any loss; `turn` 0: it is.
    static Gap gap_of(std::uint64_t from, std::uint64_t until, std::uint64_t least,
                      std::uint64_t turn, std::uint64_t most) noexcept;

    /// What may have been lost since then, before and in the latest block, of which `came` samples
    /// have come since. Reads the current rate.
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
    std::uint64_t lost_ = 0; ///< samples that the counter has shown to be lost, at least
    BlockLateness lateness_;
    std::uint64_t lateness_turn_ = 0;
    std::array<Gap, kMostEvidence> evidence_{}; ///< not yet decided
    std::size_t evidence_count_ = 0;
    std::array<Interval, kMostShown> shown_{}; ///< where the counter has shown losses lately
    std::size_t shown_count_ = 0;
};

/// A channel that counts samples. Looks at the first and last sample of a block, and at others only
/// if these do not fit. A counter of n bits gives a loss modulo 2^n only; the clock limits how
/// often it may have wrapped. One that steps back has restarted.
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
    std::uint64_t next_ = 0;            ///< the value expected next
    std::uint64_t count_ = 0;           ///< samples in the block
    std::optional<std::uint64_t> most_; ///< most samples lost in and just before it, once computed
    bool started_ = false;
};

} // namespace iio_stream::iio
