// SPDX-License-Identifier: MIT
#pragma once

#include "framing/header.hpp"
#include "iio_stream/endpoint.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace iio_stream::framing {

/// How a block is checked, beyond its header's place in the stream (`check=`): a valid header says
/// nothing about the bytes that follow.
enum class Check { none, crc32c };

constexpr std::string_view kCrc32c = "crc32c"; ///< its name in options and in GET_INFO

/// Takes `check=` from the options.
Check take_check(Uri& uri);

/// Adds the cost of a check to the route.
void add_checksum_cost(Check check, Hop& hop);

/// How losses on the way are detected.
std::vector<Evidence> evidence_of(Check check);

/// Of the samples, read by the CPU: the header's `checksum`.
std::uint32_t checksum_of(const Block& filled);

/// Whether this many failed blocks are no longer incidents but the normal state of the stream.
bool are_most(std::uint64_t failed, std::uint64_t blocks) noexcept;

/// Finds blocks whose bytes do not match their headers.
/// Thread: one at a time.
class BlockCheck {
public:
    void reset(Check check) noexcept { *this = BlockCheck(check); }
    BlockCheck() = default;

    /// Whether `block` holds what was sent; true if there is nothing to check. Throws EPROTO for a
    /// header without a checksum, and EBADMSG if most blocks have failed; `object` is where they
    /// come from.
    bool passes(const Header& header, const EmptyBlock& block, const std::string& object);
    std::uint64_t failed() const noexcept { return failed_; }

private:
    explicit BlockCheck(Check check) noexcept : check_(check) {}

    Check check_ = Check::none;
    std::uint64_t blocks_ = 0, failed_ = 0;
};

} // namespace iio_stream::framing
