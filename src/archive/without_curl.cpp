// SPDX-License-Identifier: MIT
// In place of all the others in a build with WITH_CURL=OFF.
#include "core/push_queue.hpp"
#include "iio_stream/error.hpp"

#include <cerrno>

namespace iio_stream {

PushReport push_archive(const PushConfig& config, const std::function<bool(const PushReport&)>&)
{
    throw Error(Fault::other, ENOTSUP, "push to", config.archive, "built without libcurl",
                "build with -DWITH_CURL=ON, with libcurl4-openssl-dev and libexpat1-dev installed");
}

void detail::push_each(const PushConfig& config, PushQueue&, const std::function<bool(const PushReport&)>& go_on)
{
    (void)push_archive(config, go_on);
}

void detail::check_push(const PushConfig& config)
{
    (void)push_archive(config, {});
}

} // namespace iio_stream
