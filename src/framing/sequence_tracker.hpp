// SPDX-License-Identifier: MIT
#pragma once

#include "core/loss/sample_tracker.hpp"
#include "framing/header.hpp"

#include <optional>

namespace iio_stream::framing {

/// Determines from the headers which samples have arrived. It reports losses that the sender
/// detected, and losses between the two ends, which it detects by the sample index. If a block is
/// lost, the loss that its header reported is visible only as a jump in the index. Thread: one.
class SequenceTracker {
public:
    void reset(std::size_t sample_bytes);
    /// Sets the expected index of the next header to `index`, regardless of earlier headers.
    void expect(std::uint64_t index) noexcept
    {
        next_index_ = index;
        credit_ = 0;
    }
    /// Reports that an unknown number of samples, at least `lost_min`, is missing before the next
    /// block.
    void broken_off(std::uint64_t lost_min);
    /// Processes a header. Returns false for a block that has already been received.
    bool account(const Header& header);
    /// Processes the header of a block that arrived damaged: its samples are lost.
    void damaged(const Header& header);
    /// Returns the BlockInfo of a block for which account() returned true.
    BlockInfo next(const Header& header, const Time& time, bool unverified);

    bool begun() const noexcept { return next_index_.has_value(); }
    std::vector<Gap> left() const { return tracker_.left(); }

private:
    /// The loss in a header: its minimum number of samples, and whether all of it is before the
    /// block or after the block's first sample.
    struct Reported {
        std::uint64_t samples;
        bool before, after;
    };

    bool account(const Header& header, std::uint64_t come);
    void account_jump(std::uint64_t jump, const Reported& reported);
    std::uint64_t earliest(std::int64_t offset, std::uint64_t come) const noexcept;
    std::uint64_t latest(std::int64_t offset, std::uint64_t gone) const noexcept;

    detail::SampleTracker tracker_;
    std::size_t sample_bytes_ = 1;
    /// The lower bound of the next sample's index at the sender, and the number of reported lost
    /// samples that can still appear as a jump in the index.
    std::optional<std::uint64_t> next_index_;
    std::uint64_t credit_ = 0;
    std::uint64_t missed_ = 0; ///< maximum number of samples of blocks that did not arrive
};

} // namespace iio_stream::framing
