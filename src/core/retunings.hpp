// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/block.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace iio_stream::detail {

/// Beyond that number the last one stands for all that follow.
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
    bool several = false; ///< what it was set to in between is not known
};

/// Collects a stream's retunings from its blocks, some of which may have been dropped.
class Retunings {
public:
    /// The retuning that a block is the first to report. If blocks before it were dropped there may have
    /// been others; the interval then begins where the last block before them vouched to.
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
    /// Retunings before that position of the stream have been reported; kUnknown: there are none.
    std::uint64_t vouched() const noexcept { return vouched_; }

private:
    std::uint64_t known_ = 0, vouched_ = 0;
};

} // namespace iio_stream::detail
