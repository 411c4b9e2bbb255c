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
    std::uint64_t changing = 0;              ///< mask of bits that were both 0 and 1
    std::uint64_t ones = 0;                  ///< mask of bits that were 1
    bool two_valued = false;                 ///< no more than two different values
};

/// The statistics of samples, and the fault of the converter that they show.
struct Statistics {
    std::vector<ChannelStatistics> channels;
    std::string wrong; ///< "bit 4 of voltage0 is always 0"; empty: no fault
    std::string text;  ///< "voltage0 -120 to 118, …"
};

/// Computes the statistics of all channels except counters and timestamps. A bit is stuck if it
/// never changes while a lower and a higher one do. Even the upper bits of a weak signal change
/// with its sign.
Statistics statistics_of(const Format& format, std::span<const std::byte> samples,
                         std::size_t block_bytes);

} // namespace iio_stream::conformance
