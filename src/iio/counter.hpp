// SPDX-License-Identifier: MIT
#pragma once

#include "core/loss_bound.hpp"
#include "core/sample_tracker.hpp"
#include "iio/rate_watch.hpp"
#include "iio_stream/block.hpp"
#include "iio_stream/format.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace iio_stream::iio {

/// Finds losses exactly by what the device counts in its data (option counter=).
/// Thread: one.
class Counter {
public:
    /// "channel:NAME" or "header:BYTES/EVERY"; null for "none". Throws a usage Error for others,
    /// and for what the format does not hold.
    static std::unique_ptr<Counter> make(const std::string& text, const Format& format);
    virtual ~Counter() = default;

    /// When blocks are dated: by the interrupt at their end, or whenever they arrive.
    enum class Dated { at_end, on_arrival };
    /// A stream of such blocks begins, at that rate (0 = unknown), which `rates`, if any, watches from
    /// then on. Throws a usage Error where they are too small.
    void reset(std::size_t block_size, double rate = 0, Dated dated = Dated::on_arrival,
               RateWatch* rates = nullptr);
    /// The gaps before and inside the samples of a block that ended, or came, at `ns`, to the
    /// tracker, which stands before it.
    void look(std::span<const std::byte> samples, detail::SampleTracker& tracker, std::int64_t ns);
    /// At the stream's end: what could not be decided.
    virtual void conclude(detail::SampleTracker& tracker) { (void)tracker; }

protected:
    explicit Counter(std::size_t sample_bytes) : sample_bytes_(sample_bytes) {}

    virtual void begin(std::size_t block_size) = 0;
    virtual void search_in(std::span<const std::byte> samples, detail::SampleTracker& tracker) = 0;
    /// What is lost, of which the counter tells that it is `least` or some times `turn` more;
    /// `most`: by the clock. Where that cannot tell, a turn of 2^32 samples is taken for longer
    /// than any loss; 0: it is.
    static Gap gap_of(std::uint64_t from, std::uint64_t until, std::uint64_t least,
                      std::uint64_t turn, std::uint64_t most) noexcept;

    /// What may be lost since then in front of, and in, the latest block, of which `came` samples have
    /// come since. Asks what the rate is now.
    std::uint64_t most_since(std::int64_t ns, std::uint64_t came) noexcept;

    const std::size_t sample_bytes_;
    detail::LossBound bound_;

private:
    RateWatch* rates_ = nullptr;
};

/// A channel that counts samples. Of a block its first and last one are looked at, and others only
/// where these do not fit. A counter of n bits knows a loss modulo 2^n only: how often it may have
/// gone round, the clock tells. One that steps back has begun anew.
class ChannelCounter final : public Counter {
public:
    ChannelCounter(const Format& format, const std::string& channel);

private:
    void begin(std::size_t block_size) override;
    void search_in(std::span<const std::byte> samples, detail::SampleTracker& tracker) override;
    Gap gap_at(std::uint64_t offset, std::uint64_t jump) noexcept;
    std::uint64_t value(std::span<const std::byte> samples, std::uint64_t n) const noexcept;
    void search(std::span<const std::byte> samples, std::uint64_t first, std::uint64_t last,
                detail::SampleTracker& tracker);

    Channel channel_;
    std::uint64_t mask_;
    std::uint64_t next_ = 0; ///< the value that should come next
    std::uint64_t count_ = 0; ///< samples in the block
    std::optional<std::uint64_t> most_; ///< that may be lost in and right before it, once asked for
    bool started_ = false;
};

} // namespace iio_stream::iio
