// SPDX-License-Identifier: MIT
#pragma once

#include "sys/fd_group.hpp"
#include "sys/unique_fd.hpp"
#include "zmq/monitor.hpp"
#include "zmq/socket.hpp"
#include "zmq/zmq.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace iio_stream::zmq {

/// Listens without a name, so that no one ever connects to it.
sys::UniqueFd idle_listener();

/// A socket that sends: to one subscriber (another that comes at the same moment is sent away, and
/// comes again), or to those that share what is pushed. Its queue is bounded, and nothing is
/// dropped silently.
/// Thread: one at a time.
class PeerSocket {
public:
    struct Config {
        std::size_t queue = 1; ///< most messages that may wait for a peer
        std::int64_t timeout_ns = 0;
        int listener = -1; ///< of another PeerSocket, to listen on as well
    };

    /// In `group` as long as it lives.
    PeerSocket(const Context& context, const Settings& settings, const Config& config,
               sys::FdGroup& group);
    PeerSocket(const PeerSocket&) = delete;
    ~PeerSocket();

    /// Reads the events of its peers and their subscriptions.
    void poll_events();
    bool wanted() const noexcept { return publishes_ ? subscriptions_ != 0 : !peers_.empty(); }
    bool listens() const noexcept { return listens_; }
    bool begun() const noexcept { return !name_.empty(); }           ///< a peer has come
    bool over() const noexcept { return begun() && peers_.empty(); } ///< and is gone
    const std::string& name() const noexcept { return name_; }       ///< of the peer
    /// What it listens on, for PeerSockets to come.
    sys::UniqueFd take_listener() noexcept { return std::move(listener_); }
    /// Accepts no one until close(): `idle` is a listening socket that no one connects to.
    void stop_listening(int idle, int listener);

    /// False if its queue is full. `first` is a part of its own before the samples, or empty.
    bool send(std::span<const std::byte> first, Message& samples);
    /// Queued messages are sent as long as the context lives, if a peer is there to take them.
    void close(std::int64_t linger_ns) noexcept;

    std::uint64_t delivered = 0, dropped = 0; ///< samples
    bool owes = false;                        ///< it still has to take the message being sent

private:
    void open(const Settings& settings, const Config& config);
    void read_connections();
    void read_subscriptions();

    const bool publishes_, indexed_, single_;
    bool listens_;
    Socket socket_;
    std::optional<Monitor> monitor_;
    sys::FdGroup& group_;
    std::vector<int> peers_; ///< their connections
    std::string name_;
    std::uint64_t subscriptions_ = 0;
    sys::UniqueFd listener_;
    int own_listener_ = -1;  ///< libzmq's descriptor
    int real_listener_ = -1; ///< what that was before stop_listening(); the sink's
};

} // namespace iio_stream::zmq
