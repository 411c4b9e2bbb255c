// SPDX-License-Identifier: MIT
#pragma once

#include "core/losses.hpp"
#include "iio_stream/stats.hpp"

namespace iio_stream::detail {

/// Adds one loss, which is possible only if it may be of no sample.
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

} // namespace iio_stream::detail
