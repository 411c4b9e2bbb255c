// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/block.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace iio_stream::detail {

/// Numbers a stream's blocks and carries its gaps to the blocks that they belong to.
/// Thread: the source thread's.
class SampleTracker {
public:
    /// A new stream of samples of that size. Where nothing tells of losses no index is exact.
    enum class Losses { told, untold };
    void reset(std::size_t sample_bytes, Losses losses = Losses::told);

    /// A loss that is known before the block that it falls into, or follows, is made.
    void gap(const Gap& gap);

    /// What was lost before that position has been passed to gap(); kUnknown: as soon as it is
    /// lost.
    void settle(std::uint64_t position) noexcept { settled_ = position; }

    /// The radio was retuned, somewhere between those positions.
    void retuned(std::uint64_t begin, std::uint64_t end, const Settings& settings) noexcept;
    /// Retunings before that position have been passed to retuned().
    void vouch(std::uint64_t position) noexcept { tuned_ = position; }

    /// The next good block.
    BlockInfo next(std::size_t bytes, const Time& time, BlockState state = BlockState::complete);

    /// A block that failed takes its sequence number with it.
    void failed() { ++sequence_; }

    std::uint64_t position() const noexcept { return position_; }
    std::uint64_t sequence() const noexcept { return sequence_; }
    /// Gaps that no block was left to carry.
    std::vector<Gap> left() const;
    /// The last one, which a block may have carried or not; count 0: there was none.
    const Retuning& retuning() const noexcept { return retuning_; }

private:
    std::size_t sample_bytes_ = 1;
    std::uint64_t sequence_ = 0;
    std::uint64_t position_ = 0; ///< samples delivered
    std::uint64_t settled_ = kUnknown, tuned_ = kUnknown;
    Retuning retuning_;
    std::uint64_t lost_ = 0;  ///< samples lost before position_, at least
    std::uint64_t ahead_ = 0; ///< samples lost before ahead_max_, and perhaps not before position_
    std::uint64_t ahead_max_ = 0;
    bool exact_ = true;
    std::uint8_t count_ = 0;
    std::array<Gap, kMaxGaps> pending_{};
};

} // namespace iio_stream::detail
