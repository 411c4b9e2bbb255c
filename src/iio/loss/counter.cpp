// SPDX-License-Identifier: MIT
#include "iio/loss/counter.hpp"

#include "core/format/stored_value.hpp"
#include "core/loss/losses.hpp"
#include "iio/loss/header_counter.hpp"
#include "iio_stream/error.hpp"
#include "iio_stream/units.hpp"
#include "sys/event.hpp"

#include <algorithm>
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
    rate_ = rate;
    at_end_ = dated == Dated::at_end;
    rate_changes_ = rates != nullptr ? rates->changes() : 0;
    lost_ = lateness_turn_ = 0;
    evidence_count_ = shown_count_ = 0;
    lateness_.reset(0, 0);
    bound_.reset(rate, dated == Dated::at_end, sys::monotonic_ns());
    begin(block_size);
}

void Counter::report_gaps(std::span<const std::byte> samples, detail::SampleTracker& tracker,
                          std::int64_t ns)
{
    const std::uint64_t count = samples.size() / sample_bytes_;
    bound_.block(ns, count);
    search_in(samples, tracker);
    if (!may_repeat())
        return;
    watch_times(tracker, ns, count);
    decide_until(tracker.position() + count, tracker);
}

void Counter::finish(detail::SampleTracker& tracker)
{
    end_search(tracker);
    decide_until(kUnknown, tracker);
}

void Counter::report(const Gap& gap, detail::SampleTracker& tracker)
{
    shown_[shown_count_++ % shown_.size()] = {gap.offset_min, gap.offset_max};
    lost_ = detail::add_least(lost_, gap.lost_min);
    if (gap.lost_min == 0)
        lateness_.forget(); // the number of lost samples is unknown
    tracker.gap(gap);
}

// The turn of a HeaderCounter is known only after three headers.
void Counter::watch_times(detail::SampleTracker& tracker, std::int64_t ns, std::uint64_t samples)
{
    if (!at_end_)
        return;
    if (const unsigned changes = rates_ != nullptr ? rates_->changes() : 0;
        turn() != lateness_turn_ || changes != rate_changes_) {
        lateness_turn_ = turn();
        if (changes != rate_changes_)
            rate_ = rates_->latest();
        rate_changes_ = changes;
        lateness_.reset(rate_, lateness_turn_);
    }
    const std::uint64_t position = tracker.position() + samples;
    if (const auto late = lateness_.block(ns, position, position + lost_))
        add_evidence(*late);
}

void Counter::add_evidence(const Gap& gap) noexcept
{
    if (evidence_count_ < evidence_.size())
        evidence_[evidence_count_++] = gap;
    else
        evidence_.back() = detail::merged(evidence_.back(), gap);
}

void Counter::decide_until(std::uint64_t position, detail::SampleTracker& tracker)
{
    std::size_t left = 0;
    for (std::size_t i = 0; i < evidence_count_; ++i)
        if (evidence_[i].offset_max <= position)
            decide(evidence_[i], tracker);
        else
            evidence_[left++] = evidence_[i];
    evidence_count_ = left;
    for (std::size_t i = 0; i < left; ++i)
        tracker.set_losses_final_before(
            std::min(tracker.losses_final_before(), evidence_[i].offset_min));
}

// A loss that the counter does not show consists of full turns, or there was no loss.
void Counter::decide(Gap gap, detail::SampleTracker& tracker) const
{
    const auto end =
        shown_.begin() + static_cast<std::ptrdiff_t>(std::min(shown_count_, shown_.size()));
    const bool is_shown = std::any_of(shown_.begin(), end, [&](const Interval& one) {
        return one.first <= gap.offset_max && gap.offset_min <= one.last;
    });
    const std::uint64_t turn_samples = turn();
    if (is_shown)
        return;
    if (turn_samples != 0) {
        const std::uint64_t most = std::min(gap.lost_max, bound_.most_since_start());
        if (most != kUnknown)
            gap.lost_max = most / turn_samples * turn_samples;
        if (gap.lost_min != 0)
            gap.lost_min = std::min(turn_samples, gap.lost_max);
    }
    if (gap.lost_max != 0)
        tracker.gap(gap);
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
    if (most != kUnknown && least <= most) // otherwise the stated rate is wrong
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

// The gap for a counter that has advanced `jump` counts too far before the sample at `offset`. A
// jump of more than half of its range counts as a step back.
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
    // The counter may have been running since power-up, so its first value does not show a loss.
    if (const std::uint64_t lost = (first - next_) & mask_; started_ && lost != 0)
        report(gap_at(tracker.position(), lost), tracker);
    search(samples, 0, count_ - 1, tracker);
    next_ = (value(samples, count_ - 1) + 1) & mask_;
    started_ = true;
}

// Bisects the samples until each jump lies between two neighbours, which takes a few reads per
// loss.
void ChannelCounter::search(std::span<const std::byte> samples, std::uint64_t first,
                            std::uint64_t last, detail::SampleTracker& tracker)
{
    const std::uint64_t distance = (value(samples, last) - value(samples, first)) & mask_;
    if (distance == ((last - first) & mask_))
        return;
    if (last - first == 1) {
        const std::uint64_t lost = (distance - 1) & mask_;
        return report(gap_at(tracker.position() + last, lost), tracker);
    }
    const std::uint64_t middle = first + (last - first) / 2;
    search(samples, first, middle, tracker);
    search(samples, middle, last, tracker);
}

} // namespace iio_stream::iio
