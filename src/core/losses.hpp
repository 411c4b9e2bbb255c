// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/block.hpp"

#include <algorithm>
#include <cstdint>

namespace iio_stream::detail {

/// Of two numbers of lost samples, each of which may be kUnknown; never less than either, whatever a
/// peer makes of them.
constexpr std::uint64_t add_losses(std::uint64_t a, std::uint64_t b) noexcept
{
    return a > kUnknown - b ? kUnknown : a + b;
}

/// One gap that says no more than the two together.
constexpr Gap merged(const Gap& a, const Gap& b) noexcept
{
    return {std::min(a.offset_min, b.offset_min), std::max(a.offset_max, b.offset_max),
            add_losses(a.lost_min, b.lost_min), add_losses(a.lost_max, b.lost_max),
            std::max(a.evidence, b.evidence)}; // the weaker
}

} // namespace iio_stream::detail
