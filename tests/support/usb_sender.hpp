// SPDX-License-Identifier: MIT
#pragma once

#include "framing/header.hpp"
#include "framing/info.hpp"
#include "support/fake.hpp"
#include "support/fake_usb.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <random>

namespace iio_stream::test {

inline constexpr std::uint32_t kStream = 700;
inline constexpr std::size_t kBlockSamples = kBlock / 4;

inline std::vector<std::byte> on_wire(const framing::Header& header)
{
    std::vector<std::byte> bytes(framing::kHeaderBytes);
    header.encode(framing::HeaderBytes(bytes.data(), bytes.size()));
    return bytes;
}

/// The data that a board sends, one header or block at a time. `disturb` is called before every
/// block.
class Sender {
public:
    Sender(std::uint64_t blocks, std::function<void(Sender&)> disturb)
        : blocks_(blocks), disturb_(std::move(disturb))
    {}

    std::optional<UsbSend> next()
    {
        if (queue.empty() && sent < blocks_) {
            disturb_(*this);
            send_block(sent++);
        }
        if (queue.empty() && leaves && ended_)
            queue.push_back({.leave = true});
        if (queue.empty()) {
            send(on_wire(end())); // sent again if the host discards it
            ended_ = true;
        }
        UsbSend first = std::move(queue.front());
        queue.pop_front();
        return first;
    }

    static framing::Header header_of(std::uint64_t block)
    {
        framing::Header h;
        h.stream_id = kStream;
        h.sequence = block;
        h.sample_index = block * kBlockSamples;
        h.time_ns = 1;
        h.wire_bytes = h.valid_bytes = kBlock;
        return h;
    }
    framing::Header end() const
    {
        framing::Header h;
        h.stream_id = kStream;
        h.flags = framing::Header::end;
        h.sequence = sent;
        h.sample_index = sent * kBlockSamples;
        return h;
    }
    void send(std::vector<std::byte> bytes) { queue.push_back({.bytes = std::move(bytes)}); }
    void send_block(std::uint64_t block)
    {
        send(on_wire(header_of(block)));
        send(ramp(block * kBlockSamples, kBlockSamples));
    }
    std::vector<std::byte> garbage(std::size_t bytes)
    {
        std::vector<std::byte> all(bytes);
        std::generate(all.begin(), all.end(), [this] { return static_cast<std::byte>(random()); });
        return all;
    }

    std::mt19937_64 random{1};
    std::deque<UsbSend> queue;
    std::uint64_t sent = 0;
    bool leaves = false; ///< whether the board disappears after its end

private:
    std::uint64_t blocks_;
    bool ended_ = false;
    std::function<void(Sender&)> disturb_;
};

/// Returns the info of a board that sends a ramp. `check` selects checksums of its blocks.
inline std::string board_info(framing::Check check = framing::Check::none)
{
    framing::StreamShape shape;
    shape.format = Format::parse("ci16_le");
    shape.format.sample_rate = 1e6;
    shape.wire_bytes = kBlock;
    shape.check = check;
    return framing::info_json({shape, std::nullopt, "0"}, {});
}

struct Received {
    Summary summary;
    std::shared_ptr<FakeSink::Log> log;
};

/// Receives a stream from a board that sends the results of `sender.next()`.
template <typename Board>
Received receive(Board& sender, const std::string& options = "",
                 framing::Check check = framing::Check::none)
{
    FakeUsb board(board_info(check), kStream, [&] { return sender.next(); });
    const SinkAt sink = fake_sink();
    PipelineConfig config = config_of("usb:" + options, {sink.uri});
    return {run(config), sink.log};
}

} // namespace iio_stream::test
