// SPDX-License-Identifier: MIT
#pragma once

#include "sys/event.hpp"
#include "zmq/socket.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <thread>

namespace iio_stream::zmq {

/// A public or a secret key.
using CurveKey = std::array<std::byte, 32>;

/// The keys of an encrypted link, for a network that is not trusted. They come from certificates in
/// the format of pyzmq and CZMQ. The end that binds is the server and has the keys of the clients
/// to admit. The end that connects has the public key of the server.
struct Curve {
    CurveKey public_key{}, secret_key{}; ///< of this end
    CurveKey server{};                   ///< of the other end, if this one connects
    std::set<CurveKey> clients;          ///< clients to admit to this end; empty: all
};

/// Reads a key from a certificate. Throws a usage Error if that fails, or if other users can read
/// the file with the secret key.
CurveKey read_key(const std::string& option, const std::string& path, bool secret);
/// Reads public keys from a certificate, or from a folder of certificates (*.key). Throws a usage
/// Error if there is none.
std::set<CurveKey> read_public_keys(const std::string& option, const std::string& path);

/// Sets a socket's keys. Call it before the socket is opened.
void secure(Socket& socket, const Curve& curve, bool bind);

/// Answers libzmq's authentication requests, so that only the clients in `curve` can connect. The
/// context must outlive it. Owns: a thread.
class Authenticator {
public:
    Authenticator(const Context& context, const Curve& curve);
    Authenticator(const Authenticator&) = delete;
    ~Authenticator();

private:
    void run();
    void answer();

    const std::set<CurveKey> clients_;
    Socket requests_;
    sys::Event over_;
    std::thread thread_;
};

} // namespace iio_stream::zmq
