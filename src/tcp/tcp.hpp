// SPDX-License-Identifier: MIT
#pragma once

#include "framing/checksum.hpp"
#include "iio_stream/endpoint.hpp"
#include "sys/network/tcp.hpp"

#include <string>

namespace iio_stream::tcp {

/// The scheme "tcp:HOST:PORT": a stream with its description, its losses and its end, from one
/// iio-stream to another. docs/tcp.md describes the protocol.
Scheme scheme();

/// The options of an endpoint.
struct Settings {
    sys::HostPort address;
    bool bind = false;             ///< listen instead of connecting
    std::int64_t wait_ns = 0;      ///< for a peer to connect; INT64_MAX: no limit
    std::int64_t reconnect_ns = 0; ///< for a peer to return; 0: the stream ends without it
    framing::Check check = framing::Check::none;

    std::string name() const { return "tcp:" + address.text; }
};

} // namespace iio_stream::tcp
