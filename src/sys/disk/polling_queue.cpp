// SPDX-License-Identifier: MIT
#include "sys/disk/polling_queue.hpp"

#include <algorithm>
#include <cerrno>

namespace iio_stream::sys {

int PollingQueue::poll(std::span<pollfd> fds, int timeout_ms)
{
    const int own = fd();
    if (!can_wait(timeout_ms) || !watch_all(fds, own)) {
        submit();
        return ::poll(fds.data(), fds.size(), timeout_ms);
    }
    poll_completed_ = false;
    if (has_result())
        submit();
    else if (!wait_and_receive(timeout_ms))
        return -1;
    const int ready = report(fds, own);
    if (ready == 0 && poll_completed_) { // of a descriptor that this call left out
        errno = EINTR;
        return -1;
    }
    return ready;
}

void PollingQueue::complete_poll(std::size_t number, std::int64_t result) noexcept
{
    PollRequest& request = polls_[number];
    request.in_kernel = false;
    request.revents = result > 0 ? static_cast<short>(result) : short{POLLERR};
    poll_completed_ = true;
}

// Finds the request for a descriptor, or else one that is free; nullptr if all are in the kernel.
PollingQueue::PollRequest* PollingQueue::find(const pollfd& wanted) noexcept
{
    const auto same = [&](const PollRequest& one) {
        return one.fd == wanted.fd && one.events == wanted.events;
    };
    auto found = std::ranges::find_if(polls_, same);
    if (found == polls_.end())
        found = std::ranges::find(polls_, false, &PollRequest::in_kernel);
    return found == polls_.end() ? nullptr : &*found;
}

// A request that is in the kernel from an earlier call is still valid. Any other is made again, and
// completes at once if the descriptor is ready, so that no event is missed.
bool PollingQueue::watch(const pollfd& wanted) noexcept
{
    PollRequest* request = find(wanted);
    if (request == nullptr)
        return false;
    if (request->in_kernel)
        return true;
    *request = {wanted.fd, wanted.events, 0, true};
    request->in_kernel =
        request_poll(static_cast<std::size_t>(request - polls_.data()), wanted.fd, wanted.events);
    return request->in_kernel;
}

bool PollingQueue::watch_all(std::span<const pollfd> fds, int own) noexcept
{
    return std::ranges::all_of(
        fds, [&](const pollfd& one) { return one.fd < 0 || one.fd == own || watch(one); });
}

// Fills in the events, and returns the number of descriptors that have some.
int PollingQueue::report(std::span<pollfd> fds, int own) noexcept
{
    int ready = 0;
    for (pollfd& one : fds) {
        one.revents = 0;
        if (one.fd == own)
            one.revents = has_result() ? one.events : short{0};
        else if (one.fd >= 0)
            one.revents = find(one)->revents;
        ready += one.revents != 0 ? 1 : 0;
    }
    return ready;
}

} // namespace iio_stream::sys
