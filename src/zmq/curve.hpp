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

/// The keys of a link beyond a trusted network, out of certificates as pyzmq and CZMQ write them.
/// Who binds is the server and says whom it lets in; who connects says whom it expects to find.
struct Curve {
    CurveKey public_key{}, secret_key{}; ///< this end's
    CurveKey server{};                   ///< of the other end, where this one connects
    std::set<CurveKey> clients;          ///< who may come to this one; empty: anybody
};

/// A certificate, of which the secret half is nobody else's to read. Throws a usage Error.
CurveKey read_key(const std::string& option, const std::string& path, bool secret);
/// Of a certificate, or of a folder of them (*.key).
std::set<CurveKey> read_public_keys(const std::string& option, const std::string& path);

/// Before the socket is opened.
void secure(Socket& socket, const Curve& curve, bool bind);

/// Lets in those that `curve` names, for as long as it lives; its context outlives it.
/// Owns: a thread.
class Gate {
public:
    Gate(const Context& context, const Curve& curve);
    Gate(const Gate&) = delete;
    ~Gate();

private:
    void run();
    void answer();

    const std::set<CurveKey> clients_;
    Socket requests_;
    sys::Event over_;
    std::thread thread_;
};

} // namespace iio_stream::zmq
