// SPDX-License-Identifier: MIT
#include "file/sigmf/losses.hpp"

#include "core/losses.hpp"
#include "sys/event.hpp"

#include <algorithm>
#include <utility>

namespace iio_stream::file {

namespace {

constexpr std::size_t kMostLosses = 16384; ///< told one by one; those behind them as one

} // namespace

void LossLog::begin(std::size_t sample_bytes, double rate, bool dated)
{
    sample_bytes_ = sample_bytes;
    rate_ = rate;
    dated_ = dated;
    begun_ = false;
    samples_ = expected_ = unmatched_ = 0;
    outcome_ = {};
    outcome_.losses.reserve(kMostLosses);
}

void LossLog::follow(LossLog& before)
{
    begun_ = true;
    expected_ = before.expected_;
    unmatched_ = before.unmatched_;
    auto& told = before.outcome_.losses;
    outcome_.first_index = before.outcome_.first_index + before.samples_;
    outcome_.index_exact = before.outcome_.index_exact;
    // What is lost between the two files is told by the one behind it.
    const auto here = std::stable_partition(told.begin(), told.end(), [&](const Loss& loss) {
        return loss.gap.offset_min < before.samples_;
    });
    for (auto loss = told.begin(); loss != here; ++loss) {
        if (loss->kind != Loss::Kind::filled)
            outcome_.first_index += loss->gap.lost_min;
        outcome_.index_exact = outcome_.index_exact && loss->index_exact();
    }
    for (auto loss = here; loss != told.end(); ++loss) {
        loss->gap.offset_min -= before.samples_;
        loss->gap.offset_max -= before.samples_;
        outcome_.losses.push_back(*loss);
    }
    told.erase(here, told.end());
}

// Nothing is allocated here: losses has room for as many as are kept.
void LossLog::note(const Filled& filled)
{
    const std::uint64_t samples = filled.bytes() / sample_bytes_;
    if (filled.sequence() == kUnknown) {
        note_zeros(samples);
        samples_ += samples;
        return;
    }
    const bool first = !std::exchange(begun_, true);
    const std::uint64_t dropped =
        !first && filled.position() > expected_ ? filled.position() - expected_ : 0;
    if (first || (samples_ == 0 && filled.offset() == 0)) {
        std::uint64_t lost = dropped; // told below, and counted there
        for (const Gap& gap : filled.gaps())
            if (gap.offset_max <= filled.position())
                lost += gap.lost_min;
        if (!first) // the file before this one ends with zeros for some of them
            lost -= std::min(lost, unmatched_);
        outcome_.first_index = filled.sample_index() - lost;
        // Where its own gaps are exact, something before it is not, or nothing tells of losses.
        outcome_.index_exact =
            outcome_.index_exact &&
            (filled.index_exact() || std::any_of(filled.gaps().begin(), filled.gaps().end(),
                                                 [](const Gap& gap) { return !gap.exact(); }));
    }
    if (outcome_.utc_ns == 0 && dated_) {
        outcome_.utc_ns = utc_of(filled, 0);
        if (outcome_.utc_ns != 0 && samples_ != 0 && rate_ > 0) // zeros came first
            outcome_.utc_ns -= static_cast<std::int64_t>(1e9 * static_cast<double>(samples_) / rate_);
    }
    if (dropped != 0)
        add({{samples_, samples_, dropped, dropped, Evidence::counter},
             Loss::Kind::dropped,
             utc_of(filled, 0)});
    for (const Gap& gap : filled.gaps())
        note_gap(gap, filled.position(),
                 utc_of(filled, gap.offset_max - std::min(gap.offset_max, filled.position())));
    expected_ = filled.position() + samples;
    samples_ += samples;
}

void LossLog::trailing(std::span<const Gap> gaps)
{
    for (const Gap& gap : gaps)
        note_gap(gap, expected_, 0);
}

// A gap that is told when the file ends with the sample before the stream's `position`.
void LossLog::note_gap(const Gap& gap, std::uint64_t position, std::int64_t utc_ns)
{
    const auto in_file = [&](std::uint64_t offset) {
        return offset >= position ? samples_ + (offset - position)
                                  : samples_ - std::min(samples_, position - offset);
    };
    Loss loss{gap, Loss::Kind::gap, utc_ns};
    loss.gap.offset_min = in_file(gap.offset_min);
    loss.gap.offset_max = in_file(gap.offset_max);
    // With zero-fill the zeros may have come already: what they stand for is not lost any more.
    const std::uint64_t filled_up = std::min(unmatched_, gap.lost_min);
    unmatched_ -= filled_up;
    loss.gap.lost_min -= filled_up;
    if (loss.gap.lost_max != kUnknown)
        loss.gap.lost_max -= filled_up;
    if (loss.gap.lost_max == 0)
        return;
    add(loss);
}

void LossLog::note_zeros(std::uint64_t samples)
{
    const std::uint64_t end = samples_ + samples;
    add({{samples_, end, 0, 0, Evidence::counter}, Loss::Kind::filled, 0});
    // They stand for a gap told by the block before them, or by the one that follows. What they do
    // not suffice for was lost behind them.
    for (Loss& loss : outcome_.losses) {
        const std::uint64_t part = std::min(samples, loss.gap.lost_min);
        if (loss.kind != Loss::Kind::gap || part == 0)
            continue;
        loss.gap.lost_min -= part;
        if (loss.gap.lost_max != kUnknown)
            loss.gap.lost_max -= part;
        samples -= part;
        if (loss.gap.lost_min != 0)
            loss.gap.offset_min = loss.gap.offset_max = end;
    }
    std::erase_if(outcome_.losses, [](const Loss& loss) {
        return loss.kind == Loss::Kind::gap && loss.gap.lost_max == 0;
    });
    unmatched_ += samples;
}

void LossLog::add(const Loss& loss)
{
    auto& losses = outcome_.losses;
    if (!losses.empty() && losses.back().kind == Loss::Kind::filled &&
        loss.kind == losses.back().kind && losses.back().gap.offset_max == loss.gap.offset_min) {
        losses.back().gap.offset_max = loss.gap.offset_max;
        return;
    }
    if (losses.size() < kMostLosses) {
        losses.push_back(loss);
        return;
    }
    losses.back().gap = detail::merged(losses.back().gap, loss.gap);
    losses.back().kind = Loss::Kind::gap;
}

// When a sample of a block was taken: counted back from the block's last one.
std::int64_t LossLog::utc_of(const Filled& filled, std::uint64_t sample) const
{
    const std::uint64_t samples = filled.bytes() / sample_bytes_;
    const Time& time = filled.time();
    if (!dated_ || rate_ <= 0 || time.ns == 0)
        return 0;
    const std::int64_t now =
        time.clock == Clock::realtime ? 0 : sys::realtime_ns() - sys::monotonic_ns();
    const double before = (static_cast<double>(samples) - 1 - static_cast<double>(sample)) / rate_;
    return time.ns + now - static_cast<std::int64_t>(before * 1e9);
}

} // namespace iio_stream::file
