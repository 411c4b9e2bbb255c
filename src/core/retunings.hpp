// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/block.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace iio_stream::detail {

/// Beyond this number the last entry covers all that follow.
inline constexpr std::size_t kMostRetunings = 1024;

/// Appends a retuning. Allocates nothing if the vector has room for kMostRetunings.
inline void add_retuning(std::vector<Retuning>& known, const Retuning& next)
{
    if (known.size() < kMostRetunings)
        return known.push_back(next);
    Retuning& last = known.back();
    last = {next.count, std::min(last.begin, next.begin), std::max(last.end, next.end),
            next.settings};
}

struct RetuningNews {
    Retuning retuning;
    bool several = false; ///< the settings in between are unknown
};

/// Collects the retunings of a stream from its blocks, some of which may have been dropped.
class Retunings {
public:
    /// The retuning that this block is the first to report. If blocks before it were dropped there
    /// may have been others; the interval then starts where the last block before them is valid up
    /// to.
    std::optional<RetuningNews> news(const Block& filled) noexcept
    {
        if (filled.sequence() == kUnknown)
            return std::nullopt; // zeros
        const auto told = news(filled.retuning());
        vouched_ = filled.tuned();
        return told;
    }
    std::optional<RetuningNews> news(Retuning latest) noexcept
    {
        if (latest.count == known_)
            return std::nullopt;
        const bool several = latest.count != known_ + 1;
        if (several)
            latest.begin = std::min(latest.begin, vouched_);
        known_ = latest.count;
        return RetuningNews{latest, several};
    }
    /// Retunings before that position have been reported; kUnknown: there are none.
    std::uint64_t vouched() const noexcept { return vouched_; }

private:
    std::uint64_t known_ = 0, vouched_ = 0;
};

} // namespace iio_stream::detail
