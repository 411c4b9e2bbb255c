// SPDX-License-Identifier: MIT
#include "iio/capture/capture.hpp"

#include "iio_stream/error.hpp"

#include <cerrno>

namespace iio_stream::iio {

void Capture::fail_ended() const
{
    const std::string& path = context_.file.path();
    if (!context_.dir.exists())
        throw Error(Fault::device, ENODEV, "read", path, "the device is gone");
    throw Error(Fault::device, ECANCELED, "read", path, "another process disabled the buffer",
                "another program has written 0 to " + context_.dir.path() + "/enable");
}

} // namespace iio_stream::iio
