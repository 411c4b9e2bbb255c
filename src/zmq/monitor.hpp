// SPDX-License-Identifier: MIT
#pragma once

#include "zmq/socket.hpp"

#include <optional>

namespace iio_stream::zmq {

/// Reads the events of a socket's connections from libzmq.
/// Thread: the same as for the socket. Create the Monitor before the socket is opened, and destroy
/// it before the socket is closed.
class Monitor {
public:
    struct Event {
        int what = 0; ///< ZMQ_EVENT_…
        int fd = -1;  ///< of the connection, or of the listener (LISTENING); owned by libzmq
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
