// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/block.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace iio_stream::framing {

inline constexpr std::size_t kHeaderBytes = 100;
/// The size of blocks on the wire is a multiple of this, USB's largest bulk packet, so that no
/// block ends in a short packet.
inline constexpr std::size_t kPacketBytes = 1024;

/// No valid stream has a larger sample index. A larger number is an error in the peer or an attack.
/// The sum of two smaller indexes does not overflow.
inline constexpr std::uint64_t kLastIndex = std::uint64_t{1} << 62;

/// A machine's CLOCK_MONOTONIC never reaches this time. The sum of two smaller times does not
/// overflow.
inline constexpr std::int64_t kClockEndNs = std::int64_t{1} << 62;

using HeaderBytes = std::span<std::byte, kHeaderBytes>;

/// The header before each block on the wire; docs/usb-protocol.md describes the layout.
struct Header {
    enum Flag : std::uint32_t {
        end = 1,           ///< the stream has ended; no block follows
        index_guessed = 2, ///< sample_index is not exact
        unverified = 4,    ///< the sender's kernel kept no status for the block
        broken = 8,        ///< with `end`: the stream ended with an error
        utc = 16,          ///< time_ns is UTC, from a recording
    };

    std::uint32_t stream_id = 0;
    std::uint32_t flags = 0;
    std::uint64_t sequence = 0;
    std::uint64_t sample_index = 0;
    std::int64_t time_ns = 0; ///< the sender's CLOCK_MONOTONIC, or UTC; 0 = unknown
    std::uint32_t wire_bytes = 0, valid_bytes = 0;
    /// All gaps of the block, merged into one. Offsets count from the block's first sample and can
    /// be negative.
    struct Loss {
        std::int64_t offset_min, offset_max;
        std::uint64_t lost_min, lost_max;
        Evidence evidence;
    };
    std::optional<Loss> loss;
    std::optional<std::uint32_t> checksum; ///< CRC-32C of the block's samples

    void encode(HeaderBytes out) const noexcept;
    /// Returns nullopt unless `bytes` is a complete header of this version.
    static std::optional<Header> decode(std::span<const std::byte> bytes) noexcept;
};

/// The loss in the first header of a stream whose source cannot detect losses: any number of
/// samples can be lost anywhere after it.
inline constexpr Header::Loss kUndetectedLosses{0, static_cast<std::int64_t>(kLastIndex), 0,
                                                kUnknown, Evidence::starvation};

/// Merges the gaps of a block that begins at sample `position`.
std::optional<Header::Loss> merge_losses(std::span<const Gap> gaps,
                                         std::uint64_t position) noexcept;

/// Merges two losses into one.
std::optional<Header::Loss> merged(const std::optional<Header::Loss>& a,
                                   const std::optional<Header::Loss>& b) noexcept;

/// Returns a block's loss relative to the next block, which begins `samples` samples later.
std::optional<Header::Loss> seen_from_behind(std::optional<Header::Loss> loss,
                                             std::uint64_t samples) noexcept;

/// Merges the gaps after the last sample, which no block could report.
std::optional<Header::Loss> merge_trailing(std::span<const Gap> gaps) noexcept;

/// Returns the header of the first part of a block, of which only `bytes` bytes have arrived. It
/// covers the complete samples in that part. The checksum of the block cannot verify this part.
Header first_part(const Header& header, std::size_t bytes, std::size_t sample_bytes) noexcept;

/// Returns the time at which the last sample of a block was complete, in UTC or in the receiver's
/// CLOCK_MONOTONIC, which is `offset_ns` ahead of the sender's. Its `ns` is 0 if the time is
/// unknown.
Time time_of(const Header& header, std::int64_t offset_ns,
             std::optional<std::uint64_t> uncertainty_ns) noexcept;

/// Returns a block's header without the stream ID and the sequence number.
Header describe(const Block& filled, std::size_t wire_bytes) noexcept;

} // namespace iio_stream::framing
