// SPDX-License-Identifier: MIT
#pragma once

#include <csignal>
#include <cstdint>
#include <ctime>

namespace iio_stream::sys {

/// Puts a deadline on a system call that has none: while it lives, and from `ns` on, calls that
/// wait on this thread are interrupted and return EINTR. By SIGURG, which is ignored by default and
/// may arrive without cause; a handler the program has installed for it stays.
/// Thread: one.
class CallDeadline {
public:
    explicit CallDeadline(std::int64_t ns) noexcept;
    CallDeadline(const CallDeadline&) = delete;
    ~CallDeadline();

private:
    timer_t timer_{};
    bool armed_ = false;
    sigset_t before_{};
};

} // namespace iio_stream::sys
