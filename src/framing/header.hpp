// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/block.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace iio_stream::framing {

inline constexpr std::size_t kHeaderBytes = 100;
/// Blocks on the wire are multiples of it: USB's largest bulk packet, so that none ends in a short
/// packet.
inline constexpr std::size_t kPacketBytes = 1024;

/// No stream gets this far: a larger number is a peer's mistake, or worse. The sum of two fits.
inline constexpr std::uint64_t kLastIndex = std::uint64_t{1} << 62;

/// A machine's CLOCK_MONOTONIC never gets this far. The sum of two smaller times does not overflow.
inline constexpr std::int64_t kClockEndNs = std::int64_t{1} << 62;

using HeaderBytes = std::span<std::byte, kHeaderBytes>;

/// What precedes each block on the wire; docs/usb-protocol.md has the layout.
struct Header {
    enum Flag : std::uint32_t {
        end = 1,           ///< the stream is over; no block follows
        index_guessed = 2, ///< sample_index is not exact
        unverified = 4,    ///< the sender's kernel kept no status for the block
        broken = 8,        ///< with `end`: it ended with an error
        utc = 16,          ///< time_ns is UTC: that of a recording
    };

    std::uint32_t stream_id = 0;
    std::uint32_t flags = 0;
    std::uint64_t sequence = 0;
    std::uint64_t sample_index = 0;
    std::int64_t time_ns = 0; ///< the sender's CLOCK_MONOTONIC, or UTC; 0 = unknown
    std::uint32_t wire_bytes = 0, valid_bytes = 0;
    /// All gaps of the block in one; empty if there is none. Offsets count from the block's first
    /// sample and may lie before it.
    struct Loss {
        std::int64_t offset_min, offset_max;
        std::uint64_t lost_min, lost_max;
        Evidence evidence;
    };
    std::optional<Loss> loss;
    std::optional<std::uint32_t> checksum; ///< CRC-32C of the block's samples

    void encode(HeaderBytes out) const noexcept;
    /// nullopt for anything but a complete header of this version.
    static std::optional<Header> decode(std::span<const std::byte> bytes) noexcept;
};

/// For the first header of a stream whose source cannot detect losses: any number of samples may be
/// lost anywhere after it.
inline constexpr Header::Loss kUndetectedLosses{0, static_cast<std::int64_t>(kLastIndex), 0,
                                                kUnknown, Evidence::starvation};

/// The gaps of a block that begins at sample `position`, merged.
std::optional<Header::Loss> merge_losses(std::span<const Gap> gaps,
                                         std::uint64_t position) noexcept;

/// Two merged into one.
std::optional<Header::Loss> merged(const std::optional<Header::Loss>& a,
                                   const std::optional<Header::Loss>& b) noexcept;

/// A block's loss relative to the next one, `samples` samples later.
std::optional<Header::Loss> seen_from_behind(std::optional<Header::Loss> loss,
                                             std::uint64_t samples) noexcept;

/// Gaps that had no block to carry them: after the last sample.
std::optional<Header::Loss> merge_trailing(std::span<const Gap> gaps) noexcept;

/// The header of the first part of a block, of which only `bytes` have come: it covers the whole
/// samples among them. The block's checksum does not verify them.
Header first_part(const Header& header, std::size_t bytes, std::size_t sample_bytes) noexcept;

/// When the last sample of a block was complete, by the receiver's CLOCK_MONOTONIC, which is
/// `offset_ns` ahead of the sender's, or by UTC; its `ns` is 0 if the sender does not know it.
Time time_of(const Header& header, std::int64_t offset_ns,
             std::optional<std::uint64_t> uncertainty_ns) noexcept;

/// A block's header, except stream and sequence.
Header describe(const Block& filled, std::size_t wire_bytes) noexcept;

} // namespace iio_stream::framing
