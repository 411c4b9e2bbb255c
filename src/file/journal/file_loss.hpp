// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/block.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace iio_stream::file {

/// Where a file begins in the stream.
struct PartStart {
    std::uint64_t index = 0;        ///< first sample's index, not counting losses right before it
    bool exact = true;              ///< false: `index` is a lower bound
    std::size_t losses = 0;         ///< number of losses right before the first sample
    std::uint64_t bytes_before = 0; ///< bytes of samples submitted to the previous part

    friend bool operator==(const PartStart&, const PartStart&) = default;
};

/// A loss, with its place in the file. Offsets count the file's samples.
struct Loss {
    enum class Kind {
        gap,     ///< the source lost samples
        dropped, ///< the sink had no room (on-full=drop)
        filled,  ///< zeros from offset_min to offset_max replace lost samples (zero-fill)
    };
    Gap gap;
    Kind kind = Kind::gap;
    std::int64_t utc_ns = 0; ///< when the sample at offset_max was taken; 0 = unknown

    /// Whether the index of the samples after the loss is exact.
    bool index_exact() const noexcept
    {
        return kind == Kind::filled || gap.exact() || gap.lost_max == 0;
    }
};

/// Whether the index of `sample` is exact. It is a lower bound if a loss that may be before the
/// sample is not exact.
bool index_exact_at(std::uint64_t sample, const std::vector<Loss>& losses);

/// The entry for zeros from sample `begin` to sample `end` of a file.
inline Loss zeros_at(std::uint64_t begin, std::uint64_t end)
{
    return {{begin, end, 0, 0, Evidence::counter}, Loss::Kind::filled};
}

/// Adds the next loss of a file. Adjacent zeros are merged. Certain losses right before the same
/// sample are merged too, because a stream's summary counts them as one. Once the list has
/// kMostLosses entries, the last entry covers all later losses.
void add_loss(std::vector<Loss>& losses, const Loss& loss);
inline constexpr std::size_t kMostLosses = 16384;

} // namespace iio_stream::file
