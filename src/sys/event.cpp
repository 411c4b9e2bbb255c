// SPDX-License-Identifier: MIT
#include "sys/event.hpp"

#include "sys/fail.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <ctime>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

namespace iio_stream::sys {

Event::Event() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
{
    if (!fd_.valid())
        fail(errno, "eventfd", "");
}

void Event::set() noexcept
{
    const std::uint64_t one = 1;
    // EAGAIN means that the flag is already set. An eventfd has no other errors, but a tracer can
    // inject one, and a lost wake-up would be a hang.
    for (int tries = 0; tries < 8; ++tries)
        if (::write(fd_.get(), &one, sizeof one) >= 0 || errno == EAGAIN)
            return;
}

void Event::clear() noexcept
{
    std::uint64_t count;
    [[maybe_unused]] auto got = ::read(fd_.get(), &count, sizeof count);
}

bool Event::is_set() const noexcept
{
    pollfd request{fd_.get(), POLLIN, 0};
    return ::poll(&request, 1, 0) > 0;
}

Timer::Timer() : fd_(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK))
{
    if (!fd_.valid())
        fail(errno, "timerfd_create", "");
}

void Timer::set(std::int64_t monotonic_ns)
{
    constexpr std::int64_t kSecond = 1'000'000'000;
    const std::int64_t when = std::max<std::int64_t>(monotonic_ns, 1); // 0 would disarm the timer
    itimerspec spec{};
    spec.it_value = {.tv_sec = static_cast<std::time_t>(when / kSecond),
                     .tv_nsec = static_cast<long>(when % kSecond)};
    if (::timerfd_settime(fd_.get(), TFD_TIMER_ABSTIME, &spec, nullptr) < 0)
        fail(errno, "timerfd_settime", std::to_string(monotonic_ns) + " ns");
}

void Timer::clear() noexcept
{
    std::uint64_t count;
    [[maybe_unused]] auto got = ::read(fd_.get(), &count, sizeof count);
}

std::int64_t monotonic_ns() noexcept
{
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

std::int64_t realtime_ns() noexcept
{
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

std::int64_t after(std::int64_t ns) noexcept
{
    const std::int64_t now = monotonic_ns();
    return ns > INT64_MAX - now ? INT64_MAX : now + ns;
}

bool wait_for(int fd, short events, std::int64_t deadline_ns)
{
    pollfd request{fd, events, 0};
    return wait_for(std::span(&request, 1), deadline_ns);
}

bool wait_for(std::span<pollfd> fds, std::int64_t deadline_ns)
{
    for (;;) {
        const std::int64_t left = deadline_ns - monotonic_ns();
        const auto ms = std::clamp<std::int64_t>((left + 999'999) / 1'000'000, 0, INT_MAX);
        const int ready =
            ::poll(fds.data(), fds.size(), deadline_ns == INT64_MAX ? -1 : static_cast<int>(ms));
        if (ready > 0)
            return true;
        if (ready < 0 && errno != EINTR)
            fail(errno, "poll", "fd " + std::to_string(fds[0].fd));
        if (left <= 0)
            return false;
    }
}

} // namespace iio_stream::sys
