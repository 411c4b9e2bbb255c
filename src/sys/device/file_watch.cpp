// SPDX-License-Identifier: MIT
#include "sys/device/file_watch.hpp"

#include <sys/inotify.h>
#include <unistd.h>

namespace iio_stream::sys {

void FileWatch::begin() noexcept
{
    fd_ = UniqueFd(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
    for (const std::string& path : paths_)
        if (fd_.valid())
            (void)::inotify_add_watch(fd_.get(), path.c_str(), IN_MODIFY);
}

bool FileWatch::take() noexcept
{
    alignas(inotify_event) char events[4096];
    bool any = false;
    while (fd_.valid() && ::read(fd_.get(), events, sizeof events) > 0)
        any = true;
    return any;
}

} // namespace iio_stream::sys
