// SPDX-License-Identifier: MIT
#include "sys/fd_group.hpp"

#include "sys/fail.hpp"

#include <cerrno>
#include <cstdint>
#include <string>
#include <sys/epoll.h>

namespace iio_stream::sys {

FdGroup::FdGroup() : fd_(::epoll_create1(EPOLL_CLOEXEC))
{
    if (!fd_.valid())
        fail(errno, "epoll_create1", "");
}

void FdGroup::add(int fd, short events)
{
    // The event flags of poll() and epoll have the same values.
    epoll_event event{};
    event.events = static_cast<std::uint32_t>(events);
    if (::epoll_ctl(fd_.get(), EPOLL_CTL_ADD, fd, &event) < 0)
        fail(errno, "epoll_ctl", "fd " + std::to_string(fd));
}

void FdGroup::remove(int fd) noexcept
{
    (void)::epoll_ctl(fd_.get(), EPOLL_CTL_DEL, fd, nullptr);
}

} // namespace iio_stream::sys
