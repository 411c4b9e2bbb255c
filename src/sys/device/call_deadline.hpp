// SPDX-License-Identifier: MIT
#pragma once

#include <csignal>
#include <cstdint>
#include <ctime>

namespace iio_stream::sys {

/// Sets a deadline for system calls that have none. During its lifetime, starting after `ns`,
/// system calls that wait on this thread are interrupted and return EINTR. It uses SIGURG, which is
/// ignored by default and can arrive without cause. A handler that the program has installed for
/// SIGURG stays in place.
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
