// SPDX-License-Identifier: MIT
#pragma once

#include "file/journal/file_loss.hpp"
#include "iio_stream/endpoint.hpp"

#include <cstdint>
#include <optional>

namespace iio_stream::file {

/// The limits at which a recording continues in another file; 0 = no limit.
struct Rotation {
    std::uint64_t bytes = 0; ///< limit per file
    std::int64_t ns = 0;     ///< limit per file, in stream time

    bool wanted() const noexcept { return bytes != 0 || ns != 0; }

    /// Takes rotate_bytes= and rotate_time=.
    static Rotation from(Options& options);
};

/// Measures how full the current part is. Time is stream time, including lost samples, if the
/// stream has a rate; otherwise it is the clock's time.
class PartMeter {
public:
    PartMeter() = default;
    /// Throws a usage Error if not even one block fits.
    PartMeter(const Rotation& rotation, const StreamInfo& stream);

    bool empty() const noexcept { return bytes_ == 0; }
    bool fits(const Block& filled) const noexcept;
    bool fits_any() const noexcept; ///< whether any block fits, unless samples are lost before it
    bool half_full() const noexcept;
    /// Where the next part begins if all blocks are full and no samples are lost; nullopt if that
    /// depends on the clock.
    std::optional<PartStart> seam() const noexcept;
    void add(const Block& filled) noexcept;
    void next_part() noexcept { bytes_ = 0; }

    /// When the last sample was taken, in nanoseconds of stream time.
    std::int64_t end_ns() const noexcept;
    std::uint64_t most_bytes() const noexcept; ///< limit per part; kUnknown = no limit
    std::uint64_t total_bytes() const noexcept { return total_; } ///< bytes in all parts

private:
    bool fits(std::size_t bytes, std::uint64_t end) const noexcept;
    std::uint64_t end_of(const Block& filled) const noexcept;
    std::uint64_t index_of(const Block& filled) const noexcept;

    Rotation rotation_;
    std::size_t sample_bytes_ = 1, block_bytes_ = 0;
    double rate_ = 0;                ///< samples per second; 0 = unknown
    std::uint64_t most_samples_ = 0; ///< 0 = no limit
    bool timed_ = false;             ///< time is measured by the clock
    std::uint64_t bytes_ = 0, total_ = 0;
    std::uint64_t first_ = 0,
                  next_ = 0; ///< index of the part's first sample; index of the next sample
    bool exact_ = true;      ///< the index of the last block, and all gaps in it, are exact
    std::int64_t since_ns_ = 0;
};

} // namespace iio_stream::file
