// SPDX-License-Identifier: MIT
#pragma once

#include "core/loss/sample_tracker.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace iio_stream::zmq {

/// The first bytes of the part that index=on sends before the samples of each message. A subscriber
/// can use these bytes as a topic. If they are the key of GNU Radio's ZMQ SUB Source, that block
/// removes the part.
inline constexpr std::string_view kIndexKey = "iio-stream:index";

/// The place of a message's samples in the stream, and the known losses before them. The counts
/// start with the stream, so that they also cover missing messages.
struct Index {
    static constexpr std::size_t kBytes = 72;

    std::uint32_t sample_bytes = 0;
    std::uint64_t stream = 0;   ///< a random number chosen by the sender
    std::uint64_t sequence = 0; ///< messages before this one
    std::uint64_t first = 0;    ///< lower bound of the sample index of the first sample
    std::uint64_t doubt = 0;    ///< further samples that may be lost; kUnknown: unknown
    std::uint64_t reach = 0;    ///< how far before this message the losses can lie, in samples
    std::uint64_t spread = 0;   ///< losses so far whose place is not known exactly

    std::array<std::byte, kBytes> encode() const noexcept;
    /// Returns nullopt unless `bytes` are a complete index of this version.
    static std::optional<Index> decode(std::span<const std::byte> bytes) noexcept;
};

/// Numbers the samples of the blocks that a sink gets.
/// Thread: one.
class Indexer {
public:
    void reset(std::uint64_t stream, std::size_t sample_bytes);

    /// Splits a block at the losses in it, and calls `send(Block, Index)` for each part.
    template <typename Send>
    void split(const Block& filled, Send send)
    {
        begin(filled);
        const std::uint64_t samples = filled.bytes() / next_.sample_bytes;
        std::uint64_t done = 0, inside = 0;
        const auto part = [&](std::uint64_t end) {
            if (end > done)
                send(filled.slice(done, end - done, next_.sample_bytes),
                     number(filled.sample_index() + done + inside, end - done));
            done = end;
        };
        for (const Gap& gap : filled.gaps()) {
            const bool before = gap.offset_max <= filled.position();
            part(before ? done
                        : std::min(std::max(gap.offset_max - filled.position(), done), samples));
            inside += before ? 0 : gap.lost_min;
            doubt(gap);
        }
        part(samples);
    }

private:
    void begin(const Block& filled) noexcept;
    void doubt(const Gap& gap) noexcept;
    Index number(std::uint64_t first, std::uint64_t samples) noexcept;

    Index next_;
    std::uint64_t position_ = 0; ///< after the last block
};

/// Derives the losses from the indexes that a receiver gets.
/// Thread: one.
class IndexReader {
public:
    void reset() noexcept { last_.reset(); }
    /// Reports to `tracker` the losses before a message whose samples start at position `here` of
    /// the stream. Returns false if the index cannot follow the last one.
    bool account(const Index& index, std::uint64_t samples, std::uint64_t here,
                 detail::SampleTracker& tracker);

private:
    std::optional<Index> last_;
    std::uint64_t expected_ = 0; ///< index of the next sample
};

} // namespace iio_stream::zmq
