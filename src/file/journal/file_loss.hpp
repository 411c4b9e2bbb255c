// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/block.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace iio_stream::file {

/// Where a file begins in the stream.
struct PartStart {
    std::uint64_t index = 0;        ///< of its first sample, losses right before that not counted
    bool exact = true;              ///< otherwise `index` is the least it can be
    std::size_t losses = 0;         ///< how many losses there are right before it
    std::uint64_t bytes_before = 0; ///< of the samples in the part before it

    friend bool operator==(const PartStart&, const PartStart&) = default;
};

/// A loss by its place in the file: offsets count the file's samples.
struct Loss {
    enum class Kind {
        gap,     ///< the source's
        dropped, ///< the sink had no room (on-full=drop)
        filled,  ///< zeros from offset_min to offset_max replace lost samples (zero-fill)
    };
    Gap gap;
    Kind kind = Kind::gap;
    std::int64_t utc_ns = 0; ///< when the sample at offset_max was taken; 0 = unknown

    /// Whether the index of what follows it is exact.
    bool index_exact() const noexcept
    {
        return kind == Kind::filled || gap.exact() || gap.lost_max == 0;
    }
};

/// If a loss may or may not be before a sample, the sample's index is only a lower bound.
bool index_exact_at(std::uint64_t sample, const std::vector<Loss>& losses);

/// Zeros from `begin` to `end` of a file.
inline Loss zeros_at(std::uint64_t begin, std::uint64_t end)
{
    return {{begin, end, 0, 0, Evidence::counter}, Loss::Kind::filled};
}

/// Adds the next loss of a file; adjacent zeros are merged, and so are losses that are certain and
/// right before the same sample, which a stream's summary counts as one. Beyond kMostLosses the
/// last entry covers all that follow.
void add_loss(std::vector<Loss>& losses, const Loss& loss);
inline constexpr std::size_t kMostLosses = 16384;

} // namespace iio_stream::file
