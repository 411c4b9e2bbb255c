// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/block.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace iio_stream::iio {

/// Finds losses that are so long that a counter repeats and does not show them. It uses the times
/// at which blocks end: after such a loss, every block ends later than the number of samples
/// implies. An interrupt can be late, so only the least late block of each second counts. The
/// clocks of device and CPU differ, so the increase in lateness from second to second is compared
/// with earlier increases. Thread: one.
class BlockLateness {
public:
    /// `rate`: samples per second, 0 = unknown. `turn`: samples after which the counter repeats; 0
    /// if it never does. No loss can be found if the rate is unknown, or if a turn is too short to
    /// be distinguished from late interrupts.
    void reset(double rate, std::uint64_t turn) noexcept;

    /// Adds a block that ended at `ns`. `position` is the position in the stream after its last
    /// sample. `index` is the number of samples that the device has produced until then, including
    /// the losses known so far.
    /// Returns a possible loss of one turn or more, or nullopt.
    std::optional<Gap> block(std::int64_t ns, std::uint64_t position, std::uint64_t index) noexcept;

    /// Discards all earlier times. Call it when later times can no longer be compared with them.
    void forget() noexcept;

private:
    struct Second {
        std::int64_t least_ns = 0, begin_ns = 0;
        std::uint64_t position = 0; ///< end of the least late block
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
    std::array<std::int64_t, kGrowths> growths_{}; ///< increases in lateness per second
    std::size_t growth_count_ = 0;
};

} // namespace iio_stream::iio
