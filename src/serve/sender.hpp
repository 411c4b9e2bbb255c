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

/// A client's open buffer: sends it the samples it asks for.
/// Thread: the client's.
class Sender {
public:
    /// `mask` is the client's own, which goes back to it with each answer.
    Sender(ServerState& state, std::shared_ptr<ServerState::OpenBuffer> open, std::string mask,
           Wire& wire);
    Sender(const Sender&) = delete;
    ~Sender();

    /// Sends `bytes`, less what is no whole sample, in pieces as they come. Throws Disconnected,
    /// and Error(ETIMEDOUT) and what the device says.
    void send(std::uint64_t bytes, std::int64_t timeout_ns);

private:
    void await_block(std::int64_t deadline_ns);
    std::size_t send_piece(std::uint64_t most, bool first);
    void choose_demux();

    ServerState& state_;
    const std::shared_ptr<ServerState::OpenBuffer> open_;
    const std::string mask_;
    Wire& wire_;
    /// A block while it is sent.
    struct Outgoing {
        explicit Outgoing(Block next) : block(std::move(next)), view(block) {}
        Block block;
        CpuRead view;
    };
    std::shared_ptr<const Outgoing> outgoing_;
    unsigned capture_ = 0;          ///< that it is of
    std::size_t done_ = 0;          ///< bytes of it that have been sent
    bool large_ = false;            ///< pieces are large enough to be sent in place, or were
    std::optional<Demux> demux_;    ///< from the format of the blocks
    std::size_t channels_ = 0;      ///< of that format
    std::vector<std::byte> picked_; ///< what demux_ has taken out
};

} // namespace iio_stream::serve
