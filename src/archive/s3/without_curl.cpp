// SPDX-License-Identifier: MIT
// Replaces the functions that need libcurl in a build with WITH_CURL=OFF.
#include "archive/push/push_queue.hpp"
#include "archive/store.hpp"
#include "iio_stream/error.hpp"

#include <cerrno>

namespace iio_stream {

namespace {

[[noreturn]] void not_built(const char* what, const std::string& archive)
{
    throw Error(Fault::other, ENOTSUP, what, archive, "built without libcurl",
                "build with -DWITH_CURL=ON, with libcurl4-openssl-dev and libexpat1-dev installed");
}

} // namespace

std::unique_ptr<archive::Store> archive::open_bucket(const std::string& place,
                                                     std::chrono::nanoseconds, GoOn)
{
    not_built("open", place);
}

PushReport push_archive(const PushConfig& config, const std::function<bool(const PushReport&)>&)
{
    not_built("push to", config.archive);
}

void detail::push_each(const PushConfig& config, PushQueue&,
                       const std::function<bool(const PushReport&)>& go_on)
{
    (void)push_archive(config, go_on);
}

std::uint64_t detail::check_push(const PushConfig& config, const std::string&)
{
    not_built("push to", config.archive);
}

} // namespace iio_stream
