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

/// The keys of a link beyond a trusted network, from certificates as written by pyzmq and CZMQ. The
/// end that binds is the server and says whom it admits; the end that connects says whom it expects
/// to find.
struct Curve {
    CurveKey public_key{}, secret_key{}; ///< of this end
    CurveKey server{};                   ///< of the other end, if this one connects
    std::set<CurveKey> clients;          ///< who may connect to this one; empty: anyone
};

/// A certificate; no one else may be able to read its secret half. Throws a usage Error.
CurveKey read_key(const std::string& option, const std::string& path, bool secret);
/// From a certificate, or a folder of them (*.key).
std::set<CurveKey> read_public_keys(const std::string& option, const std::string& path);

/// Call before the socket is opened.
void secure(Socket& socket, const Curve& curve, bool bind);

/// Answers libzmq's authentication requests: only the clients that `curve` names may connect. The
/// context outlives it. Owns: a thread.
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
