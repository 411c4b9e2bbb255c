// SPDX-License-Identifier: MIT
#pragma once

#include "sys/unique_fd.hpp"

#include <cstdint>
#include <string>
#include <sys/socket.h>
#include <vector>

namespace iio_stream::sys {

/// A host and a port, as the user wrote them.
struct HostPort {
    std::string text, host, port;

    /// "localhost", "*" (all addresses), "HOST:PORT", "[::1]:PORT", ":PORT" (this machine). Throws
    /// a usage Error that begins with `option` if it is none of these; `port` is the usual one, ""
    /// if it must be given.
    static HostPort parse(const std::string& option, const std::string& text,
                          const std::string& port);
};

/// A socket's address.
struct SocketAddress {
    sockaddr_storage bytes{};
    socklen_t size = 0;

    std::string text() const; ///< "127.0.0.1:30431", "[::1]:30431"
};

enum class Use { listen, connect };
/// All addresses of a host. Throws Error(device) if its name is unknown. Blocks as long as the
/// resolver does.
std::vector<SocketAddress> resolve(const HostPort& where, Use use);

/// Listens at all addresses of a host.
/// Thread: one at a time.
class Listener {
public:
    /// Throws Error(device) if it cannot listen at one of the addresses; `in_use` is the hint if
    /// another program does.
    Listener(const HostPort& where, const std::string& in_use);

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

/// Has small messages sent at once. The kernel ends the connection if the peer acknowledges nothing
/// for `silence_ns`, or if its idle machine has vanished.
void configure_connection(int fd, std::int64_t silence_ns) noexcept;

/// How many bytes of the connection the peer's machine has acknowledged.
std::uint64_t acknowledged(int fd) noexcept;

/// Of a socket's own end, or of its peer's.
std::string address_of(int fd);
std::string peer_of(int fd);

} // namespace iio_stream::sys
