// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/endpoint.hpp"
#include "zmq/curve.hpp"

#include <optional>
#include <string>

namespace iio_stream::zmq {

/// The scheme "zmq:tcp://HOST:PORT" or "zmq:ipc://PATH": raw samples in messages, which GNU Radio's
/// own zeromq blocks can send and receive.
Scheme scheme();

/// The options of an endpoint.
struct Settings {
    std::string address;
    std::string pattern; ///< pub, push, sub or pull
    bool bind = false;
    bool wait = false;          ///< waits for a peer before the stream starts
    std::optional<Curve> curve; ///< if set, the link is encrypted and both ends authenticate
    bool index = false; ///< a part with the sample index precedes the samples of each message
    std::size_t limit =
        0; ///< hwm=: maximum number of messages in the queue of one peer; 0 = the default
};

} // namespace iio_stream::zmq
