// SPDX-License-Identifier: MIT
#pragma once

#include "serve/demux.hpp"
#include "serve/server_state.hpp"
#include "serve/wire.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace iio_stream::serve {

/// A client's open buffer for reading: sends the samples that the client requests.
/// Thread: the client's.
class Sender {
public:
    /// `mask` is the channel mask from the client's OPEN; the first piece of each answer repeats
    /// it.
    Sender(ServerState& state, std::shared_ptr<ServerState::OpenBuffer> open, std::string mask,
           Wire& wire);
    Sender(const Sender&) = delete;
    ~Sender();

    /// Sends `bytes`, rounded down to whole samples, in pieces as they become available. Throws
    /// Disconnected, Error(ETIMEDOUT), or the device's error.
    void send(std::uint64_t bytes, std::int64_t timeout_ns);

private:
    void await_block(std::int64_t deadline_ns);
    std::size_t send_piece(std::uint64_t most, bool first);
    void choose_demux();

    ServerState& state_;
    const std::shared_ptr<ServerState::OpenBuffer> open_;
    const std::string mask_;
    Wire& wire_;
    /// The block that is being sent.
    struct Outgoing {
        explicit Outgoing(SharedBlock next) : captured(std::move(next)), view(captured->block) {}
        const Format& format() const noexcept { return captured->run->format; }
        SharedBlock captured;
        CpuRead view;
    };
    std::shared_ptr<const Outgoing> outgoing_;
    std::uint64_t run_ = 0;         ///< number of the capture's start that the block belongs to
    std::size_t done_ = 0;          ///< bytes of the block that have been sent
    bool large_ = false;            ///< a piece has been large enough to be sent in place
    std::optional<Demux> demux_;    ///< converts from the blocks' format to the reader's
    std::size_t channels_ = 0;      ///< number of channels in the blocks' format
    std::vector<std::byte> picked_; ///< output of demux_
};

} // namespace iio_stream::serve
