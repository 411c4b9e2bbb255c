// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/writer.hpp"
#include "serve/playback_device.hpp"
#include "serve/wire.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

namespace iio_stream::serve {

class ServerState;

/// A client's open buffer of a DAC: plays the samples that the client sends.
/// Thread: the client's.
class PlaybackClient {
public:
    PlaybackClient(ServerState& state, std::shared_ptr<PlaybackDevice> device)
        : state_(state), device_(std::move(device))
    {}
    PlaybackClient(const PlaybackClient&) = delete;
    ~PlaybackClient(); ///< lets the device play queued samples for up to a second

    /// Receives `bytes` and plays the whole samples among them. Throws Disconnected, or another
    /// Error that the caller reports to the client. After the latter, the next bytes of the
    /// connection are the next command.
    void play(Wire& wire, std::uint64_t bytes, std::int64_t timeout_ns);

private:
    void check(std::uint64_t bytes) const;
    void receive(Wire& wire, std::uint64_t& left, std::int64_t timeout_ns);
    void await_block(Wire& wire, std::int64_t deadline_ns);
    void put();

    ServerState& state_;
    const std::shared_ptr<PlaybackDevice> device_;
    std::optional<EmptyBlock> block_; ///< the block that is being filled
    std::size_t filled_ = 0;          ///< bytes of that block that are filled
    bool repeats_ = false;            ///< a cyclic buffer is complete and repeats
};

} // namespace iio_stream::serve
