// SPDX-License-Identifier: MIT
// Replaces all other files of this folder in a build with WITH_ZMQ=OFF.
#include "zmq/zmq.hpp"

namespace iio_stream::zmq {

Scheme scheme()
{
    Scheme none{"zmq", {}, {}, "ADDRESS", "Samples in the messages of a ZeroMQ socket"};
    none.missing = {"built without ZeroMQ", "build with -DWITH_ZMQ=ON, with libzmq3-dev installed"};
    return none;
}

} // namespace iio_stream::zmq
