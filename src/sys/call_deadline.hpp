// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <ctime>

#include <csignal>

namespace iio_stream::sys {

/// Ends a system call that knows no deadline: as long as it lives, and from `ns` on, what waits on
/// this thread is interrupted, and returns EINTR. By SIGURG, which nobody misses and which may come
/// without a cause; a handler that the program has for it stays.
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
