// SPDX-License-Identifier: MIT
#pragma once

#include "sys/unique_fd.hpp"

#include <chrono>
#include <cstdint>
#include <poll.h>
#include <span>

namespace iio_stream::sys {

/// A flag with a file descriptor. set() can be called on any thread or in a signal handler, and
/// poll() on the descriptor waits for the flag.
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
    /// Sets the alarm to expire at `monotonic_ns`, or at once if that is in the past.
    void set(std::int64_t monotonic_ns);
    void clear() noexcept;

private:
    UniqueFd fd_;
};

std::int64_t monotonic_ns() noexcept;
std::int64_t realtime_ns() noexcept; ///< nanoseconds since 1970 UTC
/// Returns the CLOCK_MONOTONIC time that is `ns` from now, saturated.
std::int64_t after(std::int64_t ns) noexcept;

/// Waits until `fd` has one of `events` and returns true, or until `deadline_ns` has passed
/// (CLOCK_MONOTONIC; INT64_MAX: no deadline) and returns false.
bool wait_for(int fd, short events, std::int64_t deadline_ns);
/// The same for several file descriptors; `revents` shows which of them are ready.
bool wait_for(std::span<pollfd> fds, std::int64_t deadline_ns);

} // namespace iio_stream::sys
