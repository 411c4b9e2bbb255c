// SPDX-License-Identifier: MIT
// The end of a worker: how long it waits for a slow sink.
#include "core/sink_worker.hpp"

#include <algorithm>
#include <poll.h>
#include <utility>

namespace iio_stream::detail {

namespace {

constexpr std::int64_t kGraceNs = 500'000'000; ///< for a cancelled sink to return

} // namespace

void SinkWorker::finish(Stop how, const Patience& patience, int abort_fd, Trailing trailing,
                        const std::optional<Error>& broken_by)
{
    if (!std::exchange(open_, false))
        return;
    state_->trailing = std::move(trailing);
    state_->dropped_last = failed() ? 0 : tail_;
    state_->broken_by = broken_by;
    state_->aborting.store(how == Stop::abort, std::memory_order_release);
    state_->closing.store(true, std::memory_order_release);
    if (worker_.joinable())
        finish_worker(how, patience, abort_fd);
    else
        finish_inline(how, patience, abort_fd);
    if (!error_ && !left_behind_ && failed())
        error_ = state_->error;
}

void SinkWorker::abandon() noexcept
{
    try {
        finish(Stop::abort, {0, nullptr}, -1, {}, std::nullopt);
    } catch (...) {
    }
}

bool SinkWorker::waits_for_peer(const Patience& patience) const noexcept
{
    return patience.hurry != nullptr && !patience.hurry->load(std::memory_order_acquire) &&
           absences() % 2 != 0;
}

void SinkWorker::finish_worker(Stop how, const Patience& patience, int abort_fd)
{
    SinkWorkerState& s = *state_;
    s.ring->call();
    std::uint64_t seen = s.finished.load() + s.sink->progress();
    std::int64_t deadline = sys::after(patience.timeout_ns);
    bool over = false;
    while (how == Stop::drain && !over) {
        pollfd fds[] = {{s.done.fd(), POLLIN, 0}, {abort_fd, POLLIN, 0}};
        const std::int64_t left = deadline - sys::monotonic_ns();
        if (left <= 0)
            break;
        // Returns from time to time to see whether blocks are being finished.
        (void)::poll(fds, 2, static_cast<int>(std::min<std::int64_t>(left / 1'000'000 + 1, 50)));
        over = fds[0].revents != 0;
        if (fds[1].revents != 0)
            break;
        if (const std::uint64_t now = s.finished.load() + s.sink->progress();
            now != seen || waits_for_peer(patience)) {
            seen = now;
            deadline = sys::after(patience.timeout_ns);
        }
    }
    if (!over) {
        s.aborting.store(true, std::memory_order_release);
        s.cancel.set();
        s.ring->call();
        over = sys::wait_for(s.done.fd(), POLLIN, sys::after(kGraceNs));
        if (how == Stop::drain)
            error_ = overdue();
    }
    if (over) {
        worker_.join();
        s.discard();      // blocks given while it was failing
        s.cancel.clear(); // here, not in renew(): from then on it belongs to cancel_prepare()
        return;
    }
    // Stuck in the kernel. It owns a share of its state and blocks; nothing waits for it.
    left_behind_ = true;
    worker_.detach();
}

void SinkWorker::flush()
{
    try {
        if (!failed() && state_->ring->size() == 0)
            state_->sink->flush();
    } catch (...) {
        state_->fail_with_current();
    }
}

void SinkWorker::finish_inline(Stop how, const Patience& patience, int abort_fd)
{
    SinkWorkerState& s = *state_;
    std::int64_t deadline = sys::after(patience.timeout_ns);
    while (how == Stop::drain && !failed() && (s.ring->size() != 0 || s.sink->pending() != 0)) {
        const std::size_t before = s.finished.load();
        drive(true);
        flush();
        if (s.finished.load() != before) {
            deadline = sys::after(patience.timeout_ns);
            continue;
        }
        if (waits_for_peer(patience))
            deadline = sys::after(patience.timeout_ns);
        const std::int64_t left = deadline - sys::monotonic_ns();
        if (left <= 0) {
            s.fail(overdue());
            break;
        }
        const Wait wait = s.sink->wait();
        pollfd fds[] = {{wait.fd, wait.events, 0}, {abort_fd, POLLIN, 0}};
        (void)::poll(fds, 2, static_cast<int>(std::min<std::int64_t>(left / 1'000'000 + 1, 50)));
        if (fds[1].revents != 0)
            how = Stop::abort;
    }
    s.close(failed() ? Stop::abort : how);
    s.discard();
}

} // namespace iio_stream::detail
