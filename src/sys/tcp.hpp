// SPDX-License-Identifier: MIT
#pragma once

#include "sys/unique_fd.hpp"

#include <cstdint>
#include <string>
#include <sys/socket.h>
#include <vector>

namespace iio_stream::sys {

/// A host and a port, as written.
struct Place {
    std::string text, host, port;

    /// "localhost", "*" (all addresses), "HOST:PORT", "[::1]:PORT", ":PORT" (this machine). Throws
    /// a usage Error that begins with `option` if it is none of these; `port` is the usual one, ""
    /// if it must be given.
    static Place parse(const std::string& option, const std::string& text, const std::string& port);
};

/// A socket's address.
struct SocketAddress {
    sockaddr_storage bytes{};
    socklen_t size = 0;

    std::string text() const; ///< "127.0.0.1:30431", "[::1]:30431"
};

enum class Use { listen, connect };
/// All that a place stands for. Throws Error(device) if its name is not known. Blocks as long as
/// the resolver does.
std::vector<SocketAddress> look_up(const Place& place, Use use);

/// Listens at all addresses that a place stands for.
/// Thread: one at a time.
class Listener {
public:
    /// Throws Error(device) if one of the addresses is not to be had; `in_use` is the way out if it
    /// is taken.
    Listener(const Place& place, const std::string& in_use);

    std::vector<int> fds() const;
    std::vector<std::string> addresses() const; ///< "127.0.0.1:30431"
    /// A connection that waits at this descriptor; an invalid one if it has gone again.
    static UniqueFd accept(int fd) noexcept;

private:
    std::vector<UniqueFd> sockets_;
};

/// A connection that is being made: writable when it is, or has failed. Invalid, with errno, if it
/// cannot be.
UniqueFd start_connecting(const SocketAddress& address) noexcept;
/// The errno of a connection that is made, or has failed; 0 = it is good.
int connect_error(int fd) noexcept;

/// Small messages go at once, and a peer that is silent for `silence_ns` while it owes an
/// acknowledgement, or whose idle machine has vanished, is gone.
void tend_connection(int fd, std::int64_t silence_ns) noexcept;

/// How many bytes of the connection the peer's machine has acknowledged.
std::uint64_t acknowledged(int fd) noexcept;

/// Of a socket's own end, or of its peer's.
std::string address_of(int fd);
std::string peer_of(int fd);

} // namespace iio_stream::sys
