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

/// Returns a listening socket to which no program connects, because the kernel chooses its abstract
/// address (unix(7), autobind).
sys::UniqueFd idle_listener();

/// A socket that sends to one subscriber, or to several peers that share the messages of a push
/// socket. A second subscriber that connects at the same moment is disconnected, and connects again
/// later. The queue is bounded, and nothing is dropped silently.
/// Thread: one at a time.
class PeerSocket {
public:
    struct Config {
        std::size_t queue = 1; ///< maximum number of messages in the queue of a peer
        std::int64_t timeout_ns = 0;
        int listener = -1; ///< of another PeerSocket, to listen on as well
    };

    /// Adds its descriptors to `group` until close().
    PeerSocket(const Context& context, const Settings& settings, const Config& config,
               sys::FdGroup& group);
    PeerSocket(const PeerSocket&) = delete;
    ~PeerSocket();

    /// Reads the events of its peers and their subscriptions.
    void poll_events();
    bool wanted() const noexcept { return publishes_ ? subscriptions_ != 0 : !peers_.empty(); }
    bool listens() const noexcept { return listens_; }
    bool begun() const noexcept { return !name_.empty(); }           ///< a peer has connected
    bool over() const noexcept { return begun() && peers_.empty(); } ///< all have disconnected
    const std::string& name() const noexcept { return name_; }       ///< of the peer
    /// Returns a descriptor of the listener, for later PeerSockets.
    sys::UniqueFd take_listener() noexcept { return std::move(listener_); }
    /// Accepts no more connections. `idle` is a listening socket to which nothing connects;
    /// `listener` is the real one, which close() restores.
    void stop_listening(int idle, int listener);

    /// Sends a message. Returns false if the queue is full. `first` is a separate part before the
    /// samples, or empty.
    bool send(std::span<const std::byte> first, Message& samples);
    /// Closes the socket. Queued messages are still sent while the context exists, for at most
    /// `linger_ns`, if a peer is connected.
    void close(std::int64_t linger_ns) noexcept;

    std::uint64_t delivered = 0, dropped = 0; ///< samples
    bool owes = false;                        ///< the current message still has to be sent

private:
    void open(const Settings& settings, const Config& config);
    void read_connections();
    void read_subscriptions();

    const bool publishes_, indexed_, single_;
    bool listens_;
    Socket socket_;
    std::optional<Monitor> monitor_;
    sys::FdGroup& group_;
    std::vector<int> peers_; ///< descriptors of their connections
    std::string name_;
    std::uint64_t subscriptions_ = 0;
    sys::UniqueFd listener_;
    int own_listener_ = -1;  ///< libzmq's descriptor
    int real_listener_ = -1; ///< the listener behind it before stop_listening(); owned by the sink
};

} // namespace iio_stream::zmq
