// SPDX-License-Identifier: MIT
#pragma once

#include "framing/header.hpp"
#include "iio_stream/endpoint.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace iio_stream::framing {

/// The additional check of a block (`check=`). Headers show only the place of a block in the
/// stream; a valid header does not guarantee that the bytes after it are intact.
enum class Check { none, crc32c };

constexpr std::string_view kCrc32c = "crc32c"; ///< name of the check in options and in GET_INFO

/// Removes `check=` from the options and returns its value.
Check take_check(Uri& uri);

/// Adds the cost of a check to the route.
void add_checksum_cost(Check check, Hop& hop);

/// Returns how losses on the link are detected.
std::vector<Evidence> evidence_of(Check check);

/// Computes the header's `checksum` of the samples, which the CPU reads.
std::uint32_t checksum_of(const Block& filled);

/// Returns whether so many blocks have failed that this is the normal state of the stream and not
/// an incident.
bool are_most(std::uint64_t failed, std::uint64_t blocks) noexcept;

/// Finds blocks whose bytes do not match their headers.
/// Thread: one at a time.
class BlockCheck {
public:
    void reset(Check check) noexcept { *this = BlockCheck(check); }
    BlockCheck() = default;

    /// Returns whether `block` holds the bytes that were sent; true if the check is off. Throws
    /// EPROTO for a header without a checksum, and EBADMSG if most blocks have failed. `object` is
    /// the source of the blocks, for the message.
    bool passes(const Header& header, const EmptyBlock& block, const std::string& object);
    std::uint64_t failed() const noexcept { return failed_; }

private:
    explicit BlockCheck(Check check) noexcept : check_(check) {}

    Check check_ = Check::none;
    std::uint64_t blocks_ = 0, failed_ = 0;
};

} // namespace iio_stream::framing
