// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/error.hpp"
#include "sys/event.hpp"
#include "sys/fd_group.hpp"
#include "tcp/message.hpp"
#include "tcp/tcp.hpp"

#include <functional>
#include <list>
#include <optional>

namespace iio_stream::tcp {

/// A connected peer whose first message is complete.
struct Peer {
    sys::UniqueFd fd;
    std::string name; ///< "192.168.2.1:40312"
    Message message;
    std::int64_t connected_ns = 0,
                 completed_ns = 0; ///< when it connected, and when its message was complete
};

/// Finds peers by listening or by attempts to connect. Several connections can be in their
/// handshake, each with its own deadline. A program that sends nothing, or bytes that are not a
/// handshake, therefore does not delay the others. If there are too many connections, a new one
/// replaces the oldest. Owns: the listener, and connections until their message is complete.
/// Thread: one at a time.
class Rendezvous {
public:
    struct Handshake {
        std::function<Message()> hello; ///< makes this end's first message; empty: it sends none
        std::function<void(const Peer&)> check_peer; ///< throws an Error to reject the peer
    };

    /// Starts to listen if bind=on. Throws Error(device) if that fails.
    Rendezvous(const Settings& settings, Handshake handshake);

    /// Starts to wait for a peer for at most `wait_ns` (INT64_MAX: no limit; 0: one attempt, if
    /// this end connects).
    void start_waiting(std::int64_t wait_ns) noexcept;
    /// Ends the wait because a peer was accepted. Others may still connect to a listener.
    void stop_waiting() noexcept;
    /// Returns a peer if one is ready. Throws an Error with the reason if the time to wait is over.
    /// If this end connects, a usage error of check_peer() is thrown at once.
    std::optional<Peer> poll_peer();
    /// Waits for a peer. Throws Error(ECANCELED) when `cancel` becomes readable.
    Peer wait_for_peer(int cancel);
    /// Returns a descriptor that becomes readable when poll_peer() has work.
    int fd() const noexcept { return group_.fd(); }
    /// Describes the rejected peers for the summary; "" if there were none.
    std::string rejected_peers() const;

private:
    struct Candidate {
        sys::UniqueFd fd;
        std::string name{};
        bool connecting = false;
        std::int64_t deadline_ns = 0, connected_ns = 0;
        MessageReader reader{};
    };

    void accept_connections();
    void connect();
    bool advance(Candidate& candidate, std::optional<Peer>& peer);
    void send_hello(Candidate& candidate);
    void reject(const std::string& name, const Error& error);
    [[noreturn]] void fail_no_peer() const;
    void set_alarm();

    const Settings settings_;
    const Handshake handshake_;
    sys::FdGroup group_;
    sys::Timer alarm_;
    std::optional<sys::Listener> listener_;
    std::vector<sys::SocketAddress> addresses_; ///< to connect to
    std::size_t next_address_ = 0;
    std::list<Candidate> candidates_;        ///< oldest first
    bool expecting_ = false, tried_ = false; ///< tried_: each address was tried
    std::int64_t until_ns_ = INT64_MAX, retry_ns_ = 0;
    std::optional<Error> last_; ///< why the last peer was rejected
    std::uint64_t rejected_ = 0;
};

} // namespace iio_stream::tcp
