// SPDX-License-Identifier: MIT
#include "core/loss/sample_tracker.hpp"

#include "core/loss/losses.hpp"

namespace iio_stream::detail {

void SampleTracker::reset(std::size_t sample_bytes, LossDetection detection)
{
    *this = {};
    sample_bytes_ = sample_bytes;
    exact_ = detection == LossDetection::available;
}

void SampleTracker::gap(const Gap& gap)
{
    if (count_ < kMaxGaps)
        pending_[count_++] = gap;
    else
        pending_.back() = merged(pending_.back(), gap);
}

void SampleTracker::retuned(std::uint64_t begin, std::uint64_t end,
                            const Settings& settings) noexcept
{
    retuning_ = {retuning_.count + 1, begin, end, settings};
}

BlockInfo SampleTracker::next(std::size_t bytes, const Time& time, BlockState state)
{
    BlockInfo info;
    info.bytes = bytes;
    info.sequence = sequence_++;
    info.position = position_;
    info.state = state;
    info.losses_final_before = losses_final_before_;
    info.retuning = retuning_;
    info.retunings_final_before = retunings_final_before_;
    info.time = time;
    info.gap_count = count_;
    info.gaps = pending_;
    count_losses();
    info.sample_index = position_ + lost_;
    for (std::uint8_t i = 0; i < count_; ++i)
        exact_ = exact_ && (pending_[i].exact() || pending_[i].lost_max == 0) && lost_ != kMostLost;
    info.index_exact = exact_;
    count_ = 0;
    position_ += bytes / sample_bytes_;
    return info;
}

// A loss advances the index of the first block that certainly follows it, whatever other losses
// come later. Recordings count each loss in the same way.
void SampleTracker::count_losses() noexcept
{
    std::uint8_t kept = 0;
    for (std::uint8_t i = 0; i < uncounted_count_; ++i) {
        if (uncounted_[i].offset_max <= position_)
            lost_ = add_least(lost_, uncounted_[i].lost_min);
        else
            uncounted_[kept++] = uncounted_[i];
    }
    uncounted_count_ = kept;
    for (std::uint8_t i = 0; i < count_; ++i) {
        const Gap& gap = pending_[i];
        if (gap.offset_max <= position_)
            lost_ = add_least(lost_, gap.lost_min);
        else if (gap.lost_min != 0 && uncounted_count_ < uncounted_.size())
            uncounted_[uncounted_count_++] = gap;
        else if (gap.lost_min != 0)
            uncounted_.back() = merged(uncounted_.back(), gap);
    }
}

std::vector<Gap> SampleTracker::left() const
{
    return {pending_.begin(), pending_.begin() + count_};
}

} // namespace iio_stream::detail
