// SPDX-License-Identifier: MIT
#pragma once

#include "core/loss/sample_tracker.hpp"
#include "framing/header.hpp"

#include <optional>

namespace iio_stream::framing {

/// Turns headers into the account of what arrived: losses the other end knew about, and losses
/// between the two ends, by the sample index. What the header of a lost block has reported appears
/// in the index alone, as a loss where that jumps. Thread: one.
class SequenceTracker {
public:
    void reset(std::size_t sample_bytes);
    /// The next header's index is expected to be `index`, whatever came before.
    void expect(std::uint64_t index) noexcept
    {
        next_index_ = index;
        credit_ = 0;
    }
    /// An unknown number of samples is missing before the next block.
    void broken_off(std::uint64_t lost_min);
    /// False for a block that has been seen before.
    bool account(const Header& header);
    /// A header whose block arrived damaged: its samples are lost.
    void damaged(const Header& header);
    /// A block for which account() returned true.
    BlockInfo next(const Header& header, const Time& time, bool unverified);

    bool begun() const noexcept { return next_index_.has_value(); }
    std::vector<Gap> left() const { return tracker_.left(); }

private:
    /// Of the loss in a header: its minimum, and whether all of it is before its block, or after
    /// its first sample.
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
    /// The sender's number of the next sample, at least; and how much of the reported losses may
    /// still show up in its index.
    std::optional<std::uint64_t> next_index_;
    std::uint64_t credit_ = 0;
    std::uint64_t missed_ = 0; ///< samples of blocks that did not arrive, at most
};

} // namespace iio_stream::framing
