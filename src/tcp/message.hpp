// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace iio_stream::tcp {

/// What the two ends send before the samples: the receiver a request, the sender an offer or a
/// refusal.
enum class Kind : std::uint16_t { request = 1, offer = 2, refusal = 3 };

struct Message {
    Kind kind = Kind::request;
    std::string text; ///< JSON

    std::vector<std::byte> encode() const;
};

/// Puts a message together from what comes, never reading beyond its end.
/// Throws: Error(EPROTO) for anything else than a message, as soon as that is clear; its detail
/// shows what came.
class MessageReader {
public:
    /// Where the next bytes belong.
    std::span<std::byte> room();
    /// So many have come there.
    std::optional<Message> add(std::size_t bytes);

private:
    std::vector<std::byte> bytes_;
    std::size_t filled_ = 0;
};

/// What the receiver says about samples: it has all blocks before `sequence`.
struct Ack {
    static constexpr std::size_t kBytes = 16;
    std::uint32_t stream_id = 0;
    std::uint64_t sequence = 0;

    std::array<std::byte, kBytes> encode() const noexcept;
    static std::optional<Ack> decode(std::span<const std::byte, kBytes> bytes) noexcept;
};

/// A receiver's request: the stream it has had a part of, and the block it wants next. 0: any
/// stream.
struct StreamRequest {
    std::uint32_t stream_id = 0;
    std::uint64_t sequence = 0;

    std::string text() const;
    /// Throws Error(EPROTO), which names `object`, for anything else.
    static StreamRequest parse(const std::string& text, const std::string& object);
};

} // namespace iio_stream::tcp
