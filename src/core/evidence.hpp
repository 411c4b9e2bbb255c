// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/block.hpp"

#include <optional>
#include <string_view>

namespace iio_stream::detail {

/// The inverse of name_of(); nullopt if it is none of its words.
inline std::optional<Evidence> parse_evidence(std::string_view name) noexcept
{
    for (const Evidence evidence :
         {Evidence::counter, Evidence::overflow_bit, Evidence::dma_error, Evidence::starvation})
        if (name == name_of(evidence))
            return evidence;
    return std::nullopt;
}

} // namespace iio_stream::detail
