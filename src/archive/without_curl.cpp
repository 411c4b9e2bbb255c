// SPDX-License-Identifier: MIT
// In place of all the others in a build with WITH_CURL=OFF.
#include "iio_stream/archive.hpp"

#include "iio_stream/error.hpp"

#include <cerrno>

namespace iio_stream {

PushReport push_archive(const PushConfig& config, const std::function<bool(const PushReport&)>&)
{
    throw Error(Fault::other, ENOTSUP, "push to", config.archive, "built without libcurl",
                "build with -DWITH_CURL=ON, with libcurl4-openssl-dev and libexpat1-dev installed");
}

} // namespace iio_stream
