// SPDX-License-Identifier: MIT
#pragma once

#include "core/sample_tracker.hpp"
#include "usb/header.hpp"

#include <optional>

namespace iio_stream::usb {

/// Makes of what the headers tell the account of what has arrived: the losses that the other end
/// knew of, and those between the two ends, by the sample index.
/// Thread: one.
class SequenceTracker {
public:
    void reset(std::size_t sample_bytes);
    /// The next header's index follows `index`, whatever came before.
    void expect(std::uint64_t index) noexcept
    {
        next_index_ = index;
        credit_ = 0;
    }
    /// Something is missing before the next block, nobody knows how much.
    void broken_off(std::uint64_t lost_min);
    /// False for a block that has been seen before.
    bool account(const Header& header);
    /// A header whose block came, but not as it was sent: its samples are lost.
    void damaged(const Header& header);
    /// A block of which account() was true.
    BlockInfo next(const Header& header, const Time& time, bool unverified);

    bool begun() const noexcept { return next_index_.has_value(); }
    std::vector<Gap> left() const { return tracker_.left(); }

private:
    bool account(const Header& header, std::uint64_t come);

    detail::SampleTracker tracker_;
    std::size_t sample_bytes_ = 1;
    /// The sender's number of the next sample, at least; and how much of what it has told to be lost
    /// before that may still be to come in its index.
    std::optional<std::uint64_t> next_index_;
    std::uint64_t credit_ = 0;
};

} // namespace iio_stream::usb
