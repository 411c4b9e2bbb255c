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

using HeaderBytes = std::span<std::byte, kHeaderBytes>;

/// What precedes each block on the wire; docs/usb-protocol.md has the layout.
struct Header {
    enum Flag : std::uint32_t {
        end = 1,           ///< the stream is over; no block follows
        index_guessed = 2, ///< sample_index is not exact
        unverified = 4,    ///< the sender's kernel kept no status for the block
        broken = 8,        ///< with `end`: it ended with an error
    };

    std::uint32_t stream_id = 0;
    std::uint32_t flags = 0;
    std::uint64_t sequence = 0;
    std::uint64_t sample_index = 0;
    std::int64_t time_ns = 0; ///< the sender's CLOCK_MONOTONIC; 0 = unknown
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

/// A block's header, except stream and sequence.
Header describe(const Block& filled, std::size_t wire_bytes) noexcept;

} // namespace iio_stream::framing
