// SPDX-License-Identifier: MIT
#include "framing/sequence_tracker.hpp"

#include <algorithm>

namespace iio_stream::framing {

void SequenceTracker::reset(std::size_t sample_bytes)
{
    sample_bytes_ = sample_bytes;
    tracker_.reset(sample_bytes);
    next_index_.reset();
    credit_ = 0;
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

// `come` of its samples arrive: all or none.
bool SequenceTracker::account(const Header& header, std::uint64_t come)
{
    const std::uint64_t samples = header.valid_bytes / sample_bytes_;
    const std::uint64_t position = tracker_.position();
    const bool before = header.loss && header.loss->offset_max <= 0;
    const bool inside = header.loss && header.loss->offset_min > 0; // otherwise perhaps both
    std::uint64_t told = header.loss ? header.loss->lost_min : 0;
    std::uint64_t to_come = before ? 0 : told;
    if (next_index_) {
        if (header.sample_index < *next_index_)
            return false;
        const std::uint64_t jump = header.sample_index - *next_index_;
        const std::uint64_t earlier = std::min(jump, credit_);
        const std::uint64_t now = std::min(jump - earlier, inside ? 0 : told);
        const std::uint64_t missing = jump - earlier - now;
        if (missing != 0)
            tracker_.gap({position, position, missing, missing, Evidence::counter});
        to_come -= std::min(to_come, now);
    } else if (!inside) {
        told = 0; // how much of it lies before the stream was joined is unknown
    }
    if (header.loss && (next_index_ || !before)) {
        const auto place = [&](std::int64_t offset) {
            const auto far = static_cast<std::uint64_t>(offset);
            return offset < 0 ? position - std::min(position, 0 - far)
                              : position + std::min(far, come);
        };
        tracker_.gap({place(header.loss->offset_min), place(header.loss->offset_max), told,
                      header.loss->lost_max, header.loss->evidence});
    }
    next_index_ = header.sample_index + samples;
    credit_ = to_come;
    return true;
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
