// SPDX-License-Identifier: MIT
#pragma once

#include "sys/unique_fd.hpp"

#include <chrono>
#include <cstdint>
#include <poll.h>
#include <span>

namespace iio_stream::sys {

/// A flag with a file descriptor: set() from any thread or signal handler, poll() to wait for it.
class Event {
public:
    Event();
    int fd() const noexcept { return fd_.get(); }
    void set() noexcept;
    void clear() noexcept;
    bool is_set() const noexcept;

private:
    UniqueFd fd_;
};

/// A CLOCK_MONOTONIC alarm with a file descriptor.
class Timer {
public:
    Timer();
    int fd() const noexcept { return fd_.get(); }
    /// Expires at `monotonic_ns`; at once if that is in the past.
    void set(std::int64_t monotonic_ns);
    void clear() noexcept;

private:
    UniqueFd fd_;
};

std::int64_t monotonic_ns() noexcept;
std::int64_t realtime_ns() noexcept; ///< UTC since 1970
/// The CLOCK_MONOTONIC time `ns` from now, saturated.
std::int64_t after(std::int64_t ns) noexcept;

/// Waits until `fd` has one of `events` or `deadline_ns` (CLOCK_MONOTONIC; INT64_MAX: none) has
/// passed.
bool wait_for(int fd, short events, std::int64_t deadline_ns);
/// The same for several, whose `revents` say which.
bool wait_for(std::span<pollfd> fds, std::int64_t deadline_ns);

} // namespace iio_stream::sys
