// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/block.hpp"

#include <cstdint>
#include <optional>

namespace iio_stream::soapy {

/// Computes the times of the samples of a stream.
///
/// By index: the first block is dated by its own time, and later samples by their index and the
/// rate. These times have no jitter, and a loss moves them by its length. By block: each block is
/// dated by its own time, which follows the machine's clock and has the jitter of its interrupts.
/// Thread: one at a time.
class StreamClock {
public:
    enum class By { index, block };

    void reset(By by,
               double rate) noexcept; ///< samples per second; 0: unknown, so times are unknown, too
    /// Takes the time of the next block, whose samples have `sample_bytes` bytes.
    void follow(const Block& block, std::size_t sample_bytes) noexcept;
    /// Returns the time of the sample with that index, in ns; nullopt if it is unknown.
    std::optional<std::int64_t> time_of(std::uint64_t index) const noexcept;
    double rate() const noexcept { return rate_; }

private:
    By by_ = By::index;
    double rate_ = 0;
    std::uint64_t retunings_ = 0;
    bool anchored_ = false;
    std::uint64_t index_ = 0; ///< index of the sample after those that were complete at ns_
    std::int64_t ns_ = 0;
};

} // namespace iio_stream::soapy
