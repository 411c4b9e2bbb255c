// SPDX-License-Identifier: MIT
#pragma once

#include "sys/disk/io_queue.hpp"

#include <array>

namespace iio_stream::sys {

/// A queue whose wait for its requests also ends when another descriptor is ready: the queue makes
/// a request to poll that descriptor, which stays in the kernel until it completes.
class PollingQueue : public IoQueue {
public:
    int poll(std::span<pollfd> fds, int timeout_ms) final;

protected:
    static constexpr std::size_t kMostPolls = 4; ///< descriptors other than the queue's own

    /// Whether the kernel supports poll requests and this wait.
    virtual bool can_wait(int timeout_ms) const noexcept = 0;
    /// Makes the poll request with this number. Returns false if the kernel refuses it.
    virtual bool request_poll(std::size_t number, int fd, short events) noexcept = 0;
    /// Waits until a request of any kind has completed, and receives the completions. Returns false
    /// with errno if the wait failed.
    virtual bool wait_and_receive(int timeout_ms) noexcept = 0;
    virtual bool has_result() const noexcept = 0; ///< whether take() returns a result
    /// Call for each poll request that has completed, with its poll() events or a negative errno.
    void complete_poll(std::size_t number, std::int64_t result) noexcept;

private:
    struct PollRequest {
        int fd = -1;
        short events = 0, revents = 0;
        bool in_kernel = false;
    };

    PollRequest* find(const pollfd& wanted) noexcept;
    bool watch(const pollfd& wanted) noexcept;
    bool watch_all(std::span<const pollfd> fds, int own) noexcept;
    int report(std::span<pollfd> fds, int own) noexcept;

    std::array<PollRequest, kMostPolls> polls_;
    bool poll_completed_ = false; ///< a poll request has completed in this poll()
};

} // namespace iio_stream::sys
