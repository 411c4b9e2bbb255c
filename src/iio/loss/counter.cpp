// SPDX-License-Identifier: MIT
#include "iio/loss/counter.hpp"

#include "core/format/stored_value.hpp"
#include "iio/loss/header_counter.hpp"
#include "iio_stream/error.hpp"
#include "iio_stream/units.hpp"
#include "sys/event.hpp"

#include <vector>

namespace iio_stream::iio {

std::unique_ptr<Counter> Counter::make(const std::string& text, const Format& format)
{
    constexpr std::string_view kChannel = "channel:", kHeader = "header:";
    if (text == "none")
        return nullptr;
    if (text.starts_with(kChannel))
        return std::make_unique<ChannelCounter>(format, text.substr(kChannel.size()));
    if (text.starts_with(kHeader))
        return std::make_unique<HeaderCounter>(format, text.substr(kHeader.size()));
    fail_usage("counter=" + text + " is not a counter", "none, channel:NAME or header:BYTES/EVERY");
}

void Counter::reset(std::size_t block_size, double rate, Dated dated, RateWatch* rates)
{
    rates_ = rates;
    bound_.reset(rate, dated == Dated::at_end, sys::monotonic_ns());
    begin(block_size);
}

void Counter::report_gaps(std::span<const std::byte> samples, detail::SampleTracker& tracker,
                          std::int64_t ns)
{
    bound_.block(ns, samples.size() / sample_bytes_);
    search_in(samples, tracker);
}

std::uint64_t Counter::most_since(std::int64_t ns, std::uint64_t came) noexcept
{
    if (rates_ != nullptr)
        bound_.rate_up_to(rates_->highest());
    return bound_.most(ns, came);
}

Gap Counter::gap_of(std::uint64_t from, std::uint64_t until, std::uint64_t least,
                    std::uint64_t turn, std::uint64_t most) noexcept
{
    constexpr std::uint64_t kWide = std::uint64_t{1} << 32;
    std::uint64_t longest = turn == 0 || turn >= kWide ? least : kUnknown;
    if (most != kUnknown && least <= most) // otherwise the device's stated rate is not the true one
        longest = turn == 0 ? least : least + (most - least) / turn * turn;
    return {from, until, least, longest, Evidence::counter};
}

ChannelCounter::ChannelCounter(const Format& format, const std::string& channel)
    : Counter(format.sample_bytes), mask_(0)
{
    std::vector<std::string> known;
    for (const Channel& candidate : format.channels) {
        known.push_back(candidate.id);
        if (candidate.id == channel)
            channel_ = candidate;
    }
    if (channel_.id.empty())
        fail_usage("counter=channel:" + channel + ": the stream does not have that channel",
                   suggest(channel, known));
    mask_ =
        channel_.type.bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << channel_.type.bits) - 1;
}

void ChannelCounter::begin(std::size_t block_size)
{
    started_ = false;
    if (block_size / sample_bytes_ > mask_)
        fail_usage("counter=channel:" + channel_.id + ": " + std::to_string(channel_.type.bits) +
                       " bits may wrap more than once in a block of " + format_size(block_size),
                   "--block-size " + format_size(mask_ * sample_bytes_) + " or less");
}

// The counter has advanced by `jump` too many before that sample. Half of its range is the past.
Gap ChannelCounter::gap_at(std::uint64_t offset, std::uint64_t jump) noexcept
{
    if (!most_)
        most_ = most_since(bound_.before_ns(), count_);
    if (jump > mask_ / 2)
        return {offset, offset, 0, *most_, Evidence::counter};
    return gap_of(offset, offset, jump, mask_ + 1, *most_);
}

std::uint64_t ChannelCounter::value(std::span<const std::byte> samples,
                                    std::uint64_t n) const noexcept
{
    const std::byte* at = samples.data() + n * sample_bytes_ + channel_.offset;
    return detail::load_storage(channel_.type, at) >> channel_.type.shift & mask_;
}

void ChannelCounter::search_in(std::span<const std::byte> samples, detail::SampleTracker& tracker)
{
    count_ = samples.size() / sample_bytes_;
    if (count_ == 0)
        return;
    most_.reset();
    const std::uint64_t first = value(samples, 0);
    // The counter may have counted since power-up: the start of the stream is not a loss.
    if (const std::uint64_t lost = (first - next_) & mask_; started_ && lost != 0)
        tracker.gap(gap_at(tracker.position(), lost));
    search(samples, 0, count_ - 1, tracker);
    next_ = (value(samples, count_ - 1) + 1) & mask_;
    started_ = true;
}

// Bisects the samples until each jump is between two neighbours: a few reads per loss.
void ChannelCounter::search(std::span<const std::byte> samples, std::uint64_t first,
                            std::uint64_t last, detail::SampleTracker& tracker)
{
    const std::uint64_t distance = (value(samples, last) - value(samples, first)) & mask_;
    if (distance == ((last - first) & mask_))
        return;
    if (last - first == 1) {
        const std::uint64_t lost = (distance - 1) & mask_;
        return tracker.gap(gap_at(tracker.position() + last, lost));
    }
    const std::uint64_t middle = first + (last - first) / 2;
    search(samples, first, middle, tracker);
    search(samples, middle, last, tracker);
}

} // namespace iio_stream::iio
