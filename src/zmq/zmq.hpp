// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/endpoint.hpp"
#include "zmq/curve.hpp"

#include <optional>
#include <string>

namespace iio_stream::zmq {

/// "zmq:tcp://HOST:PORT" or "zmq:ipc://PATH": raw samples in messages, as GNU Radio's own zeromq
/// blocks send and take them.
Scheme scheme();

/// What an endpoint was asked to be.
struct Settings {
    std::string address;
    std::string pattern; ///< pub, push, sub or pull
    bool bind = false;
    bool wait = false;          ///< for a peer, before the stream starts
    std::optional<Curve> curve; ///< the link is encrypted, and both ends prove who they are
    bool index = false;    ///< before each message's samples comes a part that tells their place
    std::size_t limit = 0; ///< hwm=: messages at most that wait for one peer; 0 = as the blocks are
};

} // namespace iio_stream::zmq
