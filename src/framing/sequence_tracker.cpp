// SPDX-License-Identifier: MIT
#include "framing/sequence_tracker.hpp"

#include "core/loss/losses.hpp"

#include <algorithm>

namespace iio_stream::framing {

void SequenceTracker::reset(std::size_t sample_bytes)
{
    sample_bytes_ = sample_bytes;
    tracker_.reset(sample_bytes);
    next_index_.reset();
    credit_ = missed_ = 0;
}

void SequenceTracker::broken_off(std::uint64_t lost_min)
{
    const std::uint64_t here = tracker_.position();
    tracker_.gap({here, here, lost_min, kUnknown, Evidence::counter});
}

bool SequenceTracker::account(const Header& header)
{
    return account(header, header.valid_bytes / sample_bytes_);
}

void SequenceTracker::damaged(const Header& header)
{
    if (!account(header, 0))
        return;
    const std::uint64_t here = tracker_.position(), samples = header.valid_bytes / sample_bytes_;
    tracker_.gap({here, here, samples, samples, Evidence::dma_error});
}

// `come` is the number of samples of the block that arrived: all or none.
bool SequenceTracker::account(const Header& header, std::uint64_t come)
{
    const std::uint64_t samples = header.valid_bytes / sample_bytes_;
    std::uint64_t reported_min = header.loss ? header.loss->lost_min : 0;
    const Reported reported{reported_min, header.loss && header.loss->offset_max <= 0,
                            header.loss && header.loss->offset_min > 0};
    if (next_index_) {
        if (header.sample_index < *next_index_)
            return false;
        account_jump(header.sample_index - *next_index_, reported);
    } else {
        credit_ = reported.before ? 0 : reported_min;
        if (!reported.after)
            reported_min = 0; // all of the loss might be from before this end joined
    }
    if (header.loss && (next_index_ || !reported.before))
        tracker_.gap({earliest(header.loss->offset_min, come),
                      latest(header.loss->offset_max, samples - come), reported_min,
                      header.loss->lost_max, header.loss->evidence});
    next_index_ = header.sample_index + samples;
    missed_ = detail::add_losses(missed_, samples - come);
    return true;
}

// The sender's index jumps over samples that the sender has lost, once they are certainly before a
// block, and over blocks that did not arrive. A jump over such blocks can include any part of the
// reported losses that have not appeared as a jump yet, except losses that are certainly after the
// first sample of this block.
void SequenceTracker::account_jump(std::uint64_t jump, const Reported& reported)
{
    const std::uint64_t here = std::min(jump, reported.before ? reported.samples : 0);
    const std::uint64_t open = detail::add_least(credit_, reported.before ? 0 : reported.samples);
    const std::uint64_t over = std::min(jump - here, reported.after ? credit_ : open);
    const std::uint64_t missing = jump - here - over;
    credit_ = missing == 0 ? open - over : open;
    if (missing == 0)
        return;
    const std::uint64_t position = tracker_.position();
    tracker_.gap({position, position, missing, missing + over, Evidence::counter});
    missed_ = detail::add_losses(missed_, missing + over);
}

// Converts the earliest offset of a loss into a position. Samples of the block before that offset
// count only if they arrived.
std::uint64_t SequenceTracker::earliest(std::int64_t offset, std::uint64_t come) const noexcept
{
    const auto far = static_cast<std::uint64_t>(offset);
    const std::uint64_t position = tracker_.position();
    return offset < 0 ? position - std::min(position, 0 - far) : position + std::min(far, come);
}

// Converts the latest offset of a loss into a position. Some of the earlier samples might not have
// arrived, and the `gone` samples of the block itself have not.
std::uint64_t SequenceTracker::latest(std::int64_t offset, std::uint64_t gone) const noexcept
{
    const auto far = static_cast<std::uint64_t>(offset);
    const std::uint64_t position = tracker_.position();
    if (offset > 0)
        return position + far - std::min(far, gone);
    return position - std::min(position, 0 - far - std::min(0 - far, missed_));
}

BlockInfo SequenceTracker::next(const Header& header, const Time& time, bool unverified)
{
    const bool doubtful = unverified || (header.flags & Header::unverified) != 0;
    BlockInfo info = tracker_.next(header.valid_bytes, time,
                                   doubtful ? BlockState::unverified : BlockState::complete);
    info.index_exact = info.index_exact && (header.flags & Header::index_guessed) == 0;
    return info;
}

} // namespace iio_stream::framing
