// SPDX-License-Identifier: MIT
#include "usb/arrivals.hpp"

#include <algorithm>

namespace iio_stream::usb {

void Arrivals::reset(std::size_t sample_bytes)
{
    sample_bytes_ = sample_bytes;
    witness_.reset(sample_bytes);
    next_index_.reset();
}

void Arrivals::broken_off(std::uint64_t lost_min)
{
    const std::uint64_t here = witness_.position();
    witness_.gap({here, here, lost_min, kUnknown, Evidence::counter});
}

bool Arrivals::account(const Header& header)
{
    const std::uint64_t samples = header.valid_bytes / sample_bytes_;
    const std::uint64_t position = witness_.position();
    const bool before = header.loss && header.loss->offset_max <= 0;
    const std::uint64_t told = header.loss ? header.loss->lost_min : 0;
    if (next_index_) {
        if (header.sample_index < *next_index_)
            return false;
        const std::uint64_t jump = header.sample_index - *next_index_;
        const std::uint64_t missing = jump - std::min(jump, before ? told : 0);
        if (missing != 0)
            witness_.gap({position, position, missing, missing, Evidence::counter});
    }
    if (header.loss && (next_index_ || !before)) {
        const auto place = [&](std::int64_t offset) {
            const auto far = static_cast<std::uint64_t>(offset);
            return offset < 0 ? position - std::min(position, 0 - far)
                              : position + std::min(far, samples);
        };
        witness_.gap({place(header.loss->offset_min), place(header.loss->offset_max), told,
                      header.loss->lost_max, header.loss->evidence});
    }
    next_index_ = header.sample_index + samples + (before ? 0 : told);
    return true;
}

BlockInfo Arrivals::next(const Header& header, const Time& time, bool unverified)
{
    const bool doubtful = unverified || (header.flags & Header::unverified) != 0;
    BlockInfo info = witness_.next(header.valid_bytes, time,
                                   doubtful ? BlockState::unverified : BlockState::complete);
    info.index_exact = info.index_exact && (header.flags & Header::index_guessed) == 0;
    return info;
}

} // namespace iio_stream::usb
