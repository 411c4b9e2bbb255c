// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/block.hpp"
#include "iio_stream/stats.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

namespace iio_stream::detail {

/// The sum of two numbers of lost samples, each of which can be kUnknown. The sum saturates, so it
/// is never less than either number, whatever a peer claims.
constexpr std::uint64_t add_losses(std::uint64_t a, std::uint64_t b) noexcept
{
    return a > kUnknown - b ? kUnknown : a + b;
}

/// The largest number ever reported as a minimum loss. Its sum with the number of delivered samples
/// is still a valid sample index.
inline constexpr std::uint64_t kMostLost = std::uint64_t{1} << 62;

/// Like add_losses(), for minimum losses: at most kMostLost.
constexpr std::uint64_t add_least(std::uint64_t a, std::uint64_t b) noexcept
{
    return std::min(add_losses(a, b), kMostLost);
}

/// Adds one loss. It counts as possible if its minimum is 0 samples, and otherwise as certain.
constexpr void add_loss(GapTotals& totals, std::uint64_t least, std::uint64_t most) noexcept
{
    ++(least > 0 ? totals.certain : totals.possible);
    totals.lost_min = add_losses(totals.lost_min, least);
    totals.lost_max = add_losses(totals.lost_max, most);
}

constexpr void add_totals(GapTotals& sum, const GapTotals& more) noexcept
{
    sum.certain += more.certain;
    sum.possible += more.possible;
    sum.lost_min = add_losses(sum.lost_min, more.lost_min);
    sum.lost_max = add_losses(sum.lost_max, more.lost_max);
}

/// Merges two gaps into one. Its interval spans both intervals, and its bounds are the sums of
/// their bounds.
constexpr Gap merged(const Gap& a, const Gap& b) noexcept
{
    return {std::min(a.offset_min, b.offset_min), std::max(a.offset_max, b.offset_max),
            add_least(a.lost_min, b.lost_min), add_losses(a.lost_max, b.lost_max),
            std::max(a.evidence, b.evidence)}; // the weaker evidence
}

/// The inverse of name_of(); nullopt if no evidence has that name.
inline std::optional<Evidence> parse_evidence(std::string_view name) noexcept
{
    for (const Evidence evidence :
         {Evidence::counter, Evidence::overflow_bit, Evidence::dma_error, Evidence::starvation})
        if (name == name_of(evidence))
            return evidence;
    return std::nullopt;
}

/// Decides which certain gaps are separate losses. Two gaps with adjoining places can report the
/// same loss: the overflow register can report it before and after it was cleared, or both gaps can
/// come from the same jump of the index.
class CertainLosses {
public:
    /// Returns whether `gap` is a different loss from the previous one.
    bool is_another(const Gap& gap) noexcept
    {
        const bool same = any_ && gap.offset_min <= end_ && begin_ <= gap.offset_max;
        if (same) { // the loss is where both intervals overlap
            begin_ = std::max(begin_, gap.offset_min);
            end_ = std::min(end_, gap.offset_max);
        } else if (!any_ || gap.offset_min > end_) {
            begin_ = gap.offset_min;
            end_ = gap.offset_max;
        }
        any_ = true;
        return !same;
    }

private:
    bool any_ = false;
    std::uint64_t begin_ = 0, end_ = 0; ///< place of the last loss
};

} // namespace iio_stream::detail
