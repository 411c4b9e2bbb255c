// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/endpoint.hpp"
#include "zmq/curve.hpp"

#include <optional>
#include <string>

namespace iio_stream::zmq {

/// "zmq:tcp://HOST:PORT" or "zmq:ipc://PATH": raw samples in messages, as sent and received by GNU
/// Radio's own zeromq blocks.
Scheme scheme();

/// The options of an endpoint.
struct Settings {
    std::string address;
    std::string pattern; ///< pub, push, sub or pull
    bool bind = false;
    bool wait = false;          ///< for a peer, before the stream starts
    std::optional<Curve> curve; ///< if set, the link is encrypted and both ends authenticate
    bool index = false; ///< a part that gives their place precedes the samples of each message
    std::size_t limit =
        0; ///< hwm=: most messages that wait for one peer; 0 = depends on the blocks
};

} // namespace iio_stream::zmq
