// SPDX-License-Identifier: MIT
#pragma once

#include "file/journal/file_loss.hpp"
#include "iio_stream/endpoint.hpp"

#include <cstdint>
#include <optional>

namespace iio_stream::file {

/// When a recording continues in another file; zeros: no limit.
struct Rotation {
    std::uint64_t bytes = 0; ///< most per file
    std::int64_t ns = 0;     ///< most per file, in stream time

    bool wanted() const noexcept { return bytes != 0 || ns != 0; }

    /// Takes rotate_bytes= and rotate_time=.
    static Rotation from(Options& options);
};

/// How full the current part is. Time is the stream's if it has a rate, lost samples included,
/// otherwise the clock's.
class PartMeter {
public:
    PartMeter() = default;
    /// Throws a usage Error if not even one block fits.
    PartMeter(const Rotation& rotation, const StreamInfo& stream);

    bool empty() const noexcept { return bytes_ == 0; }
    bool fits(const Block& filled) const noexcept;
    bool fits_any() const noexcept; ///< any block fits, unless samples are lost before it
    bool half_full() const noexcept;
    /// Where the next part will begin if all blocks are full and no samples are lost; nullopt: by
    /// the clock, not predictable.
    std::optional<PartStart> seam() const noexcept;
    void add(const Block& filled) noexcept;
    void next_part() noexcept { bytes_ = 0; }

    /// When the last sample was taken: nanoseconds of the stream's time.
    std::int64_t end_ns() const noexcept;
    std::uint64_t most_bytes() const noexcept; ///< in a part; kUnknown = no limit
    std::uint64_t total_bytes() const noexcept { return total_; } ///< in all parts

private:
    bool fits(std::size_t bytes, std::uint64_t end) const noexcept;
    std::uint64_t end_of(const Block& filled) const noexcept;
    std::uint64_t index_of(const Block& filled) const noexcept;

    Rotation rotation_;
    std::size_t sample_bytes_ = 1, block_bytes_ = 0;
    double rate_ = 0;                ///< samples per second; 0 = unknown
    std::uint64_t most_samples_ = 0; ///< 0 = no limit
    bool timed_ = false;             ///< by the clock
    std::uint64_t bytes_ = 0, total_ = 0;
    std::uint64_t first_ = 0,
                  next_ = 0; ///< position of the part's first sample in the stream; of the next one
    bool exact_ = true;      ///< the last block's index and all within it
    std::int64_t since_ns_ = 0;
};

} // namespace iio_stream::file
