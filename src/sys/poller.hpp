// SPDX-License-Identifier: MIT
#pragma once

#include <poll.h>
#include <span>

namespace iio_stream::sys {

/// Waits in place of poll(), in the same system call in which it exchanges its own requests and
/// their completions with the kernel.
/// Thread: the one that makes the requests.
class Poller {
public:
    virtual ~Poller() = default;

    /// Does what poll() does, and can fail with EINTR even without a signal. One of `fds` is the
    /// poller's own descriptor, which is readable when a request has completed. The others must be
    /// the same open files in each call, although a call may leave some of them out (-1).
    virtual int poll(std::span<pollfd> fds, int timeout_ms) = 0;
    /// Submits the requests that are held back until the next poll(). Call it before any other wait
    /// for the descriptor. A failure is reported like that of a request.
    virtual void submit() noexcept {}
};

/// Waits by `poller`, or by poll() if there is none.
inline int poll(Poller* poller, std::span<pollfd> fds, int timeout_ms)
{
    return poller != nullptr ? poller->poll(fds, timeout_ms)
                             : ::poll(fds.data(), fds.size(), timeout_ms);
}

} // namespace iio_stream::sys
