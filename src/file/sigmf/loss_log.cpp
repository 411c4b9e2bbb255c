// SPDX-License-Identifier: MIT
#include "file/sigmf/loss_log.hpp"

#include "core/loss/losses.hpp"
#include "sys/event.hpp"

#include <algorithm>
#include <utility>

namespace iio_stream::file {

bool add_late_loss(Outcome& outcome, const StreamRange& range, std::uint64_t samples,
                   const Gap& gap)
{
    if (gap.offset_min >= range.end)
        return false;
    const bool before = gap.offset_max <= range.begin;
    if (gap.offset_min < range.begin)
        outcome.index_exact = false;
    if (before)
        outcome.first_index = detail::add_least(outcome.first_index, gap.lost_min);
    if (gap.offset_max < range.begin)
        return true;
    Loss loss{gap};
    const auto in_file = [&](std::uint64_t position) {
        return std::min(std::clamp(position, range.begin, range.end) - range.begin, samples);
    };
    loss.gap.offset_min = range.contiguous ? in_file(gap.offset_min) : 0;
    loss.gap.offset_max = range.contiguous ? in_file(gap.offset_max) : samples;
    if (gap.offset_min < range.begin || gap.offset_max >= range.end)
        loss.gap.lost_min = 0; // another file may have this loss
    add_loss(outcome.losses, loss);
    return true;
}

void LossLog::begin(std::size_t sample_bytes, double rate, bool dated, bool filled)
{
    sample_bytes_ = sample_bytes;
    rate_ = rate;
    dated_ = dated;
    filled_ = filled;
    begun_ = false;
    undated_ = 0;
    losses_final_before_ = open_zeros_ = open_zeros_end_ = 0;
    start_ = samples_ = expected_ = expected_index_ = begin_index_ = dated_index_ = 0;
    dated_ns_ = 0;
    origin_ = 0;
    outcome_ = {};
    outcome_.losses.reserve(kMostLosses);
}

void LossLog::count_from(std::uint64_t index, bool exact) noexcept
{
    origin_ = outcome_.first_index = index;
    outcome_.index_exact = exact;
}

void LossLog::follow(LossLog& before)
{
    begun_ = true;
    start_ = expected_ = before.expected_;
    expected_index_ = before.expected_index_;
    dated_index_ = before.dated_index_;
    dated_ns_ = before.dated_ns_;
    auto& losses = before.outcome_.losses;
    outcome_.first_index = before.outcome_.first_index + before.samples_;
    outcome_.index_exact = before.outcome_.index_exact;
    // A loss between the two files is recorded by the second.
    const auto here = std::stable_partition(losses.begin(), losses.end(), [&](const Loss& loss) {
        return loss.gap.offset_min < before.samples_;
    });
    for (auto loss = losses.begin(); loss != here; ++loss) {
        if (loss->kind != Loss::Kind::filled)
            outcome_.first_index += loss->gap.lost_min;
        outcome_.index_exact = outcome_.index_exact && loss->index_exact();
        // If the loss might be after the seam as well, neither file is certain to have it.
        if (loss->kind == Loss::Kind::filled || loss->gap.offset_max < before.samples_)
            continue;
        Loss rest = *loss;
        rest.gap.offset_min = 0;
        rest.gap.offset_max -= before.samples_;
        rest.gap.lost_min = loss->gap.lost_min = 0;
        loss->gap.offset_max = before.samples_;
        add(rest);
    }
    for (auto loss = here; loss != losses.end(); ++loss) {
        loss->gap.offset_min -= before.samples_;
        loss->gap.offset_max -= before.samples_;
        add(*loss);
    }
    losses.erase(here, losses.end());
}

PartStart LossLog::part_start() const
{
    const auto& losses = outcome_.losses;
    const auto before = std::find_if(losses.begin(), losses.end(),
                                     [](const Loss& loss) { return loss.gap.offset_min != 0; });
    return {outcome_.first_index, outcome_.index_exact,
            static_cast<std::size_t>(before - losses.begin())};
}

// Allocates nothing: `losses` has room for as many as are kept.
void LossLog::note(const Block& filled)
{
    const std::uint64_t samples = filled.bytes() / sample_bytes_;
    const bool first = !std::exchange(begun_, true);
    const std::uint64_t dropped = first ? 0 : dropped_before(filled);
    if (first || (samples_ == 0 && filled.offset() == 0))
        begin_at(filled, dropped, first);
    note_begin_utc(filled);
    if (dropped != 0) {
        add({{samples_, samples_, dropped, dropped, Evidence::counter},
             Loss::Kind::dropped,
             utc_of(filled, 0)});
        note_hidden(filled, dropped);
    }
    for (const Gap& gap : filled.gaps())
        note_gap(filled_ ? left_of(gap) : gap, filled.position());
    date_losses(filled);
    exact_ = filled.index_exact();
    // The index might not yet count a loss that zeros have replaced, because the loss might be at a
    // later place.
    expected_index_ =
        samples + (filled_ ? std::max(filled.sample_index(), expected_index_ + dropped)
                           : filled.sample_index());
    if (is_zeros(filled))
        return note_zeros(filled);
    expected_ = filled.position() + samples;
    for (const Gap& gap : filled.gaps())
        if (!filled_ && gap.offset_max > filled.position())
            expected_index_ += gap.lost_min;
    if (!is_cut(filled)) {
        dated_ns_ = utc_of(filled, static_cast<std::int64_t>(samples));
        dated_index_ = expected_index_;
    }
    samples_ += samples;
    note_losses_final(filled.losses_final_before());
}

// Samples missing before a block because the sink had no room. If zeros replace lost samples, every
// index belongs to a sample or a zero, so every sample that is missing was dropped.
std::uint64_t LossLog::dropped_before(const Block& filled) const noexcept
{
    const auto beyond = [](std::uint64_t a, std::uint64_t b) { return a > b ? a - b : 0; };
    const std::uint64_t dropped = beyond(filled.position(), expected_);
    return filled_ ? std::max(dropped, beyond(filled.sample_index(), expected_index_)) : dropped;
}

void LossLog::begin_at(const Block& filled, std::uint64_t dropped, bool first)
{
    std::uint64_t lost = dropped; // noted, and counted, by note()
    for (const Gap& gap : filled.gaps())
        if (!filled_ && gap.offset_max <= filled.position())
            lost += gap.lost_min;
    std::uint64_t index = filled.sample_index() - lost;
    if (!first && filled_)
        index = expected_index_;
    else if (!first && dropped != 0) // note_hidden() notes the losses among them
        index = std::min(index, expected_index_);
    outcome_.first_index = origin_ + index;
    // If the index is not exact although the block's own gaps are, then a loss before the block is
    // not exact, or losses cannot be detected.
    outcome_.index_exact = outcome_.index_exact && (filled.index_exact() || has_doubt(filled));
}

// Dropped samples only bring a place nearer to the end of the file than it is in the stream, so the
// result errs on the safe side. Zeros move it farther away, so they are added.
void LossLog::note_losses_final(std::uint64_t position)
{
    if (position >= open_zeros_end_)
        open_zeros_ = 0;
    if (position >= expected_) {
        losses_final_before_ = samples_;
        return;
    }
    const std::uint64_t after = expected_ - position + open_zeros_;
    losses_final_before_ = std::max(losses_final_before_, samples_ - std::min(samples_, after));
}

bool LossLog::is_zeros(const Block& filled) noexcept
{
    return filled.sequence() == kUnknown;
}

bool LossLog::has_doubt(const Block& filled) noexcept
{
    const auto gaps = filled.gaps();
    return std::any_of(gaps.begin(), gaps.end(), [](const Gap& gap) { return !gap.exact(); });
}

// Whether a block was cut before a loss in it. Such a block keeps the end time of the uncut one.
bool LossLog::is_cut(const Block& filled) const noexcept
{
    const std::uint64_t end = filled.position() + filled.bytes() / sample_bytes_;
    const auto gaps = filled.gaps();
    return std::any_of(gaps.begin(), gaps.end(),
                       [&](const Gap& gap) { return gap.offset_min >= end; });
}

// Notes losses of the source that were reported only by blocks that the sink dropped.
void LossLog::note_hidden(const Block& filled, std::uint64_t dropped)
{
    std::uint64_t counted = expected_index_ + dropped;
    for (const Gap& gap : filled.gaps())
        if (!filled_ && gap.offset_max <= filled.position())
            counted += gap.lost_min;
    const std::uint64_t lost = filled.sample_index() - std::min(filled.sample_index(), counted);
    const bool doubt = !filled.index_exact() && !(exact_ && has_doubt(filled));
    if (lost == 0 && !doubt)
        return;
    add({{samples_, samples_, lost, doubt ? kUnknown : lost, Evidence::counter},
         Loss::Kind::gap,
         utc_of(filled, 0)});
}

// The part of a loss that zeros do not replace. If the place of the loss is uncertain, the zeros
// may be at another place.
Gap LossLog::left_of(const Gap& gap) noexcept
{
    Gap left = gap;
    left.lost_min = 0;
    if (gap.lost_max != kUnknown && gap.offset_min == gap.offset_max)
        left.lost_max -= gap.lost_min;
    return left;
}

void LossLog::add_trailing_gaps(std::span<const Gap> gaps)
{
    for (const Gap& gap : gaps)
        note_gap(gap, expected_);
}

void LossLog::add_trailing_drops(std::uint64_t samples)
{
    add({{samples_, samples_, samples, samples, Evidence::counter}, Loss::Kind::dropped, 0});
}

// Notes a gap that is reported when the file ends right before `position` in the stream.
void LossLog::note_gap(const Gap& gap, std::uint64_t position)
{
    // Everything between the last block and this one was dropped: it all falls on one place in the
    // file.
    const auto in_file = [&](std::uint64_t offset, std::uint64_t zeros) {
        if (offset >= position)
            return samples_ + (offset - position);
        return samples_ - std::min(samples_, expected_ - std::min(expected_, offset) + zeros);
    };
    Loss loss{gap, Loss::Kind::gap, 0};
    loss.gap.offset_min = in_file(gap.offset_min, open_zeros_);
    loss.gap.offset_max = in_file(gap.offset_max, 0);
    if (loss.gap.lost_max == 0)
        return;
    if (gap.offset_min < start_) { // an earlier file may have this loss
        outcome_.index_exact = false;
        if (gap.offset_max <= start_)
            outcome_.first_index += loss.gap.lost_min;
        loss.gap.lost_min = 0;
        if (gap.offset_max < start_)
            return;
    }
    add(loss);
}

void LossLog::note_zeros(const Block& filled)
{
    const std::uint64_t samples = filled.bytes() / sample_bytes_;
    add(zeros_at(samples_, samples_ + samples));
    open_zeros_ += samples;
    expected_ = open_zeros_end_ = std::max(expected_, filled.position());
    samples_ += samples;
}

void LossLog::add(const Loss& loss)
{
    if (loss.kind != Loss::Kind::filled && loss.utc_ns == 0)
        ++undated_;
    add_loss(outcome_.losses, loss);
    if (listener_)
        listener_(loss);
}

StreamRange LossLog::stream_range() const
{
    const bool contiguous =
        std::all_of(outcome_.losses.begin(), outcome_.losses.end(),
                    [](const Loss& loss) { return loss.kind == Loss::Kind::gap; });
    return {start_, expected_, contiguous && expected_ - start_ == samples_};
}

// Notes when the file's first sample was taken, or would have been taken.
void LossLog::note_begin_utc(const Block& filled)
{
    if (samples_ == 0)
        begin_index_ = filled.sample_index();
    if (outcome_.utc_ns != 0 || !dated_)
        return;
    outcome_.utc_ns = utc_of(filled, 0);
    if (outcome_.utc_ns != 0 && samples_ != 0) // zeros came first
        outcome_.utc_ns -= ns_between(begin_index_, filled.sample_index());
}

// The block with the first sample that is certainly after a loss gives the time of that sample. It
// may come long after the block that reports the loss, and the time between the two includes the
// loss.
void LossLog::date_losses(const Block& filled)
{
    const std::uint64_t end = samples_ + filled.bytes() / sample_bytes_;
    std::size_t open = dated_ ? std::exchange(undated_, 0) : 0;
    for (auto loss = outcome_.losses.rbegin(); open > 0 && loss != outcome_.losses.rend(); ++loss) {
        if (loss->kind == Loss::Kind::filled || loss->utc_ns != 0)
            continue;
        --open;
        if (loss->gap.offset_max < end)
            loss->utc_ns =
                utc_of(filled, static_cast<std::int64_t>(loss->gap.offset_max - samples_));
        else
            ++undated_;
    }
}

std::int64_t LossLog::ns_between(std::uint64_t index, std::uint64_t later) const noexcept
{
    const auto samples = static_cast<std::int64_t>(later - index);
    return static_cast<std::int64_t>(1e9 * static_cast<double>(samples) / rate_);
}

// When a sample of a block was taken, counted back from the end of the block's last sample.
std::int64_t LossLog::utc_of(const Block& filled, std::int64_t sample) const
{
    const auto samples = static_cast<std::int64_t>(filled.bytes() / sample_bytes_);
    const Time& time = filled.time();
    if (!dated_ || rate_ <= 0)
        return 0;
    if (is_cut(filled) || is_zeros(filled)) { // the block before it gives the time
        const std::int64_t since =
            ns_between(dated_index_, filled.sample_index() + static_cast<std::uint64_t>(sample));
        return dated_ns_ == 0 ? 0 : dated_ns_ + since;
    }
    if (time.ns == 0)
        return 0;
    const std::int64_t now =
        time.clock == Clock::realtime ? 0 : sys::realtime_ns() - sys::monotonic_ns();
    std::uint64_t lost = 0; // between the sample and the end of the block
    for (const Gap& gap : filled.gaps())
        if (const auto at = static_cast<std::int64_t>(gap.offset_max - filled.position());
            at > sample && at < samples)
            lost += gap.lost_min;
    const double before =
        (static_cast<double>(samples - sample) + static_cast<double>(lost)) / rate_;
    return time.ns + now - static_cast<std::int64_t>(before * 1e9);
}

} // namespace iio_stream::file
