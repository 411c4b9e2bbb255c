// SPDX-License-Identifier: MIT
#pragma once

#include "sys/unique_fd.hpp"

#include <optional>
#include <string>
#include <vector>

namespace iio_stream::serve {

/// Listens at all addresses that a text stands for.
/// Thread: one at a time.
class Listener {
public:
    /// "localhost", "*", "HOST:PORT", "[::1]:PORT", ":PORT". Throws Error: usage if it is none of these, device if one
    /// of the addresses is not to be had.
    explicit Listener(const std::string& text);

    std::vector<int> fds() const;
    std::vector<std::string> addresses() const; ///< "127.0.0.1:30431"
    /// A connection that waits at this descriptor; an invalid one if it has gone again.
    static sys::UniqueFd accept(int fd) noexcept;

private:
    std::vector<sys::UniqueFd> sockets_;
};

/// "127.0.0.1:30431", "[::1]:30431": of a socket's own end, or of its peer's.
std::string address_of(int fd);
std::string peer_of(int fd);

} // namespace iio_stream::serve
