// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/block.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace iio_stream::detail {

enum class LossDetection { none, available };

/// Numbers a stream's blocks and passes gaps on with the blocks they belong to.
/// Thread: the source thread.
class SampleTracker {
public:
    /// Starts a new stream. If no losses can be detected, no index is exact.
    void reset(std::size_t sample_bytes, LossDetection detection = LossDetection::available);

    /// Adds a loss. Call it before next() for the block that contains or follows the loss.
    void gap(const Gap& gap);

    /// Declares that all losses before this position have been passed to gap(). kUnknown: losses
    /// are always passed without delay.
    void set_losses_final_before(std::uint64_t position) noexcept
    {
        losses_final_before_ = position;
    }
    std::uint64_t losses_final_before() const noexcept { return losses_final_before_; }

    /// Adds a retuning: the radio was retuned somewhere between these positions.
    void retuned(std::uint64_t begin, std::uint64_t end, const Settings& settings) noexcept;
    /// Declares that all retunings before this position have been passed to retuned().
    void set_retunings_final_before(std::uint64_t position) noexcept
    {
        retunings_final_before_ = position;
    }

    /// Returns the BlockInfo of the next good block, and passes the pending gaps on with it.
    BlockInfo next(std::size_t bytes, const Time& time, BlockState state = BlockState::complete);

    /// Counts a failed block, which uses up a sequence number.
    void failed() { ++sequence_; }

    std::uint64_t position() const noexcept { return position_; }
    std::uint64_t sequence() const noexcept { return sequence_; }
    /// The gaps that no block has carried yet.
    std::vector<Gap> left() const;
    /// The last retuning, whether or not a block carried it. Its count is 0 if there is none.
    const Retuning& retuning() const noexcept { return retuning_; }

private:
    /// Gaps can reach several blocks beyond the block that reports them.
    static constexpr std::size_t kMostUncounted = 32;

    void count_losses() noexcept;

    std::size_t sample_bytes_ = 1;
    std::uint64_t sequence_ = 0;
    std::uint64_t position_ = 0; ///< samples delivered
    std::uint64_t losses_final_before_ = kUnknown, retunings_final_before_ = kUnknown;
    Retuning retuning_;
    std::uint64_t lost_ = 0; ///< minimum number of samples lost before position_
    bool exact_ = true;
    std::uint8_t count_ = 0;
    std::array<Gap, kMaxGaps> pending_{};
    std::uint8_t uncounted_count_ = 0;
    std::array<Gap, kMostUncounted> uncounted_{}; ///< losses that can be after position_
};

} // namespace iio_stream::detail
