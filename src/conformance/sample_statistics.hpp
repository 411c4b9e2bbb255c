// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/format.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace iio_stream::conformance {

struct ChannelStatistics {
    std::string id;
    std::int64_t least = 0, most = 0;        ///< values
    std::uint64_t at_least = 0, at_most = 0; ///< samples at the ends of the scale
    std::uint64_t changing = 0;              ///< bits that were seen as 0 and as 1
    std::uint64_t ones = 0;                  ///< bits that were seen as 1
    bool two_valued = false;                 ///< no more than two different values
};

/// What samples look like, and what is wrong with those of a converter.
struct Statistics {
    std::vector<ChannelStatistics> channels;
    std::string wrong; ///< "bit 4 of voltage0 is always 0"; empty if nothing is
    std::string text;  ///< "voltage0 -120 to 118, …"
};

/// Counters and time stamps are left out. A bit is stuck if it never changes while a lower and a
/// higher one do: the upper bits of a weak signal follow its sign.
Statistics statistics_of(const Format& format, std::span<const std::byte> samples,
                         std::size_t block_bytes);

} // namespace iio_stream::conformance
