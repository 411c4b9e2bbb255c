// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/block.hpp"

#include <cstdint>
#include <vector>

namespace iio_stream::file {

/// A loss where it lies in the file: its offsets count the file's samples.
struct Loss {
    enum class Kind {
        gap,     ///< the source's
        dropped, ///< the sink had no room (on-full=drop)
        filled,  ///< zeros from offset_min to offset_max stand for what was lost (zero-fill)
    };
    Gap gap;
    Kind kind = Kind::gap;
    std::int64_t utc_ns = 0; ///< when the sample at offset_max was taken; 0 = unknown

    /// Whether what follows it is known to be where it counts itself.
    bool index_exact() const noexcept
    {
        return kind == Kind::filled || gap.exact() || gap.lost_max == 0;
    }
};

/// Where a loss may, or may not, lie before a sample, the sample's index is the least that it can
/// be.
bool index_exact_at(std::uint64_t sample, const std::vector<Loss>& losses);

/// Zeros from `begin` to `end` of a file.
inline Loss zeros_at(std::uint64_t begin, std::uint64_t end)
{
    return {{begin, end, 0, 0, Evidence::counter}, Loss::Kind::filled};
}

/// Adds the next loss of a file; zeros that go on behind others are one. Beyond kMostLosses the last
/// one stands for all that follow.
void add_loss(std::vector<Loss>& losses, const Loss& loss);
inline constexpr std::size_t kMostLosses = 16384;

} // namespace iio_stream::file
