// SPDX-License-Identifier: MIT
#pragma once

#include "zmq/socket.hpp"

#include <optional>

namespace iio_stream::zmq {

/// What libzmq reports about a socket's connections.
/// Thread: its socket's. It is created before the socket is opened, and destroyed before it is
/// closed.
class Monitor {
public:
    struct Event {
        int what = 0; ///< ZMQ_EVENT_…
        int fd = -1;  ///< the connection's, libzmq's own; for ZMQ_EVENT_LISTENING the listener's
    };

    Monitor(const Context& context, Socket& watched, int events);
    ~Monitor();

    std::optional<Event> next();
    int fd() const { return pair_.fd(); }

private:
    Socket& watched_;
    Socket pair_;
};

} // namespace iio_stream::zmq
