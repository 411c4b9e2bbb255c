// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/block.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace iio_stream::detail {

/// The maximum number of entries. The last entry covers all further retunings.
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

/// A retuning that no earlier block has reported.
struct NewRetuning {
    Retuning retuning;
    bool several = false; ///< there were several retunings, and the settings in between are unknown
};

/// Collects the retunings of a stream from its blocks. Some blocks can be missing because they were
/// dropped.
class Retunings {
public:
    /// Adds the retuning that a block reports, and returns it if no earlier block has reported it.
    /// If blocks before it were dropped, there may have been other retunings. The interval then
    /// starts at the position up to which the last block before them has reported all retunings.
    std::optional<NewRetuning> add(const Block& filled) noexcept
    {
        if (filled.sequence() == kUnknown)
            return std::nullopt; // zeros carry no retuning
        const auto added = add(filled.retuning());
        complete_until_ = filled.retunings_final_before();
        return added;
    }
    std::optional<NewRetuning> add(Retuning latest) noexcept
    {
        if (latest.count == known_)
            return std::nullopt;
        const bool several = latest.count != known_ + 1;
        if (several)
            latest.begin = std::min(latest.begin, complete_until_);
        known_ = latest.count;
        return NewRetuning{latest, several};
    }
    /// The position before which all retunings have been reported. kUnknown: the source cannot be
    /// retuned.
    std::uint64_t complete_until() const noexcept { return complete_until_; }

private:
    std::uint64_t known_ = 0, complete_until_ = 0;
};

} // namespace iio_stream::detail
