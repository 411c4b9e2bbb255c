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

/// The messages before the samples. The receiver sends a request, and the sender answers with an
/// offer or a refusal.
enum class Kind : std::uint16_t { request = 1, offer = 2, refusal = 3 };

struct Message {
    Kind kind = Kind::request;
    std::string text; ///< JSON

    std::vector<std::byte> encode() const;
};

/// Assembles a message from the received bytes. It never reads beyond the end of the message.
/// Throws: Error(EPROTO) as soon as the bytes cannot be a message. Its detail shows the received
/// bytes or, for another version of the protocol, that version.
class MessageReader {
public:
    /// The buffer for the next bytes.
    std::span<std::byte> room();
    /// Adds bytes that were received into room(). Returns the message once it is complete.
    std::optional<Message> add(std::size_t bytes);

private:
    std::vector<std::byte> bytes_;
    std::size_t filled_ = 0;
};

/// A receiver's acknowledgment that it has all blocks before `sequence`.
struct Ack {
    static constexpr std::size_t kBytes = 16;
    std::uint32_t stream_id = 0;
    std::uint64_t sequence = 0;

    std::array<std::byte, kBytes> encode() const noexcept;
    static std::optional<Ack> decode(std::span<const std::byte, kBytes> bytes) noexcept;
};

/// A receiver's request. `stream_id` is the stream of which the receiver already has a part (0: it
/// accepts any stream), and `sequence` the block that it needs next.
struct StreamRequest {
    std::uint32_t stream_id = 0;
    std::uint64_t sequence = 0;

    std::string text() const;
    /// Throws Error(EPROTO), which names `object`, if `text` is not a valid request.
    static StreamRequest parse(const std::string& text, const std::string& object);
};

} // namespace iio_stream::tcp
