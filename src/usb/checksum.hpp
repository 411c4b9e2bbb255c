// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/endpoint.hpp"
#include "usb/header.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace iio_stream::usb {

/// What a block is checked by besides its header's place in the stream (`check=`): a right header
/// says nothing of whose bytes follow it.
enum class Check { none, crc32c };

constexpr std::string_view kCrc32c = "crc32c"; ///< its name in options and in GET_INFO

/// Takes `check=` from the options.
Check take_check(Uri& uri);

/// Tells the price of a check in the route.
void tell_price(Check check, Hop& hop);

/// By what losses on the cable are known.
std::vector<Evidence> evidence_of(Check check);

/// Of the samples, which the CPU reads: the header's `checksum`.
std::uint32_t checksum_of(const Block& filled);

/// Whether so many failed blocks are no incidents any more, but how the stream is.
bool are_most(std::uint64_t failed, std::uint64_t blocks) noexcept;

/// Finds blocks that hold other bytes than their headers say.
/// Thread: one at a time.
class BlockCheck {
public:
    void reset(Check check) noexcept { *this = BlockCheck(check); }
    BlockCheck() = default;

    /// Whether `block` holds what the sender had; true where nothing is to be checked. Throws
    /// EPROTO for a header without a checksum, and EBADMSG where most blocks have failed; `object`
    /// is what they come from.
    bool passes(const Header& header, const EmptyBlock& block, const std::string& object);
    std::uint64_t failed() const noexcept { return failed_; }

private:
    explicit BlockCheck(Check check) noexcept : check_(check) {}

    Check check_ = Check::none;
    std::uint64_t blocks_ = 0, failed_ = 0;
};

} // namespace iio_stream::usb
