// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/block.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace iio_stream::iio {

/// Finds losses of so many samples that a counter repeats, by the times at which blocks end: after
/// such a loss every block ends later than its number of samples says. An interrupt may be late, so
/// only the least late block of each second counts. The clocks differ, so the growth of the
/// lateness from second to second is compared with the growth before. Thread: one.
class BlockLateness {
public:
    /// `rate` in samples per second, 0 = unknown; `turn`: samples after which the counter repeats,
    /// 0 = never. The time tells nothing if it is unknown, or if a turn is too short to be told
    /// from late interrupts.
    void reset(double rate, std::uint64_t turn) noexcept;

    /// A block ended at `ns`. Its last sample is the one before `position` in the stream, and the
    /// one before `index` of those that the device has produced, as far as is known.
    /// Returns a possible loss of one turn or more.
    std::optional<Gap> block(std::int64_t ns, std::uint64_t position, std::uint64_t index) noexcept;

    /// Forgets the times so far: the lateness can no longer be compared with them.
    void forget() noexcept;

private:
    struct Second {
        std::int64_t least_ns = 0, begin_ns = 0;
        std::uint64_t position = 0; ///< after the block that was the least late
        std::size_t blocks = 0;
    };
    static constexpr std::size_t kGrowths = 8;

    std::optional<Gap> close(const Second& second) noexcept;

    double rate_ = 0;
    double turn_ns_ = 0;
    std::uint64_t turn_ = 0;
    std::int64_t first_ns_ = 0; ///< when the first block since reset() ended
    std::uint64_t first_index_ = 0;
    bool begun_ = false;
    Second now_;
    std::optional<Second> before_;
    std::array<std::int64_t, kGrowths> growths_{}; ///< of the lateness, from second to second
    std::size_t growth_count_ = 0;
};

} // namespace iio_stream::iio
