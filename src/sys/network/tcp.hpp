// SPDX-License-Identifier: MIT
#pragma once

#include "sys/unique_fd.hpp"

#include <cstdint>
#include <string>
#include <sys/socket.h>
#include <vector>

namespace iio_stream::sys {

/// A host and a port, as given by the user.
struct HostPort {
    std::string text, host, port;

    /// Parses "localhost", "*" (all addresses), "HOST:PORT", "[::1]:PORT" or ":PORT" (this
    /// machine). Throws a usage Error that begins with `option` for any other text. `port` is the
    /// default port; "" if the text must contain a port.
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
/// Returns all addresses of a host. Throws Error(device) if its name is unknown. Blocks for the
/// duration of the resolver call.
std::vector<SocketAddress> resolve(const HostPort& where, Use use);

/// Listens on all addresses of a host.
/// Thread: one at a time.
class Listener {
public:
    /// Skips addresses that this machine does not have. Throws Error(device) if listening on
    /// another address fails or if no address is left. `in_use` is the hint for an address that
    /// another program uses.
    Listener(const HostPort& where, const std::string& in_use);

    std::vector<int> fds() const;
    std::vector<std::string> addresses() const; ///< "127.0.0.1:30431"
    /// Accepts a pending connection on this descriptor. Returns an invalid descriptor, with errno
    /// set, on failure, for example if the peer has already closed the connection.
    static UniqueFd accept(int fd) noexcept;

private:
    std::vector<UniqueFd> sockets_;
};

/// Begins a connection. The returned socket becomes writable when the connection is established or
/// has failed. It is invalid, with errno set, if the connection cannot be started.
UniqueFd start_connecting(const SocketAddress& address) noexcept;
/// Returns the errno of a connection attempt that has ended; 0 if the connection is established.
int connect_error(int fd) noexcept;

/// Makes the kernel send small messages at once. The kernel ends the connection if the peer
/// acknowledges nothing for `silence_ns`, or if the peer's machine disappears while the connection
/// is idle.
void configure_connection(int fd, std::int64_t silence_ns) noexcept;

/// Returns the number of bytes that the peer's machine has acknowledged.
std::uint64_t acknowledged(int fd) noexcept;

/// Return the address of the socket's own end and of its peer.
std::string address_of(int fd);
std::string peer_of(int fd);

} // namespace iio_stream::sys
