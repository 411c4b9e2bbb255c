// SPDX-License-Identifier: MIT
#include "core/stream/control_thread.hpp"

#include "sys/named_thread.hpp"

#include <algorithm>
#include <climits>
#include <poll.h>

namespace iio_stream::detail {

namespace {

constexpr std::size_t kOwnFds = 2;

} // namespace

ControlThread::~ControlThread()
{
    stop_.set();
    if (thread_.joinable())
        thread_.join();
}

void ControlThread::start()
{
    if (thread_.joinable())
        return;
    room_.reserve(kOwnFds);
    thread_ = std::thread([this] {
        const sys::NamedThread name("iios-control");
        run();
    });
}

void ControlThread::add(SlowCheck& check)
{
    const std::lock_guard lock(mutex_);
    room_.reserve(kOwnFds + entries_.size() + 1);
    entries_.push_back({&check, sys::after(check.check().count())});
    changed_.set();
}

void ControlThread::remove(SlowCheck& check)
{
    // run() also holds the mutex during a check, so this waits for the check to end.
    const std::lock_guard lock(mutex_);
    std::erase_if(entries_, [&](const Entry& entry) { return entry.slow_check == &check; });
    changed_.set();
}

// Runs the checks that are due. Returns the time at which the next one is due.
std::int64_t ControlThread::check_due()
{
    std::int64_t next = sys::after(3'600'000'000'000);
    std::erase_if(entries_, [](Entry& entry) { return !check(entry); });
    for (const Entry& entry : entries_)
        next = std::min(next, entry.due_ns);
    return next;
}

// Returns false if the check failed.
bool ControlThread::check(Entry& entry) noexcept
{
    try {
        pollfd request{entry.slow_check->check_fd(), POLLIN, 0};
        const bool wanted = request.fd >= 0 && ::poll(&request, 1, 0) > 0;
        if (wanted || entry.due_ns <= sys::monotonic_ns())
            entry.due_ns = sys::after(entry.slow_check->check().count());
        return true;
    } catch (...) {
        return false;
    }
}

void ControlThread::run()
{
    std::vector<pollfd> fds;
    for (;;) {
        std::int64_t next;
        {
            const std::lock_guard lock(mutex_);
            next = check_due();
            if (fds.capacity() < room_.capacity())
                fds.swap(room_);
            fds.clear();
            fds.push_back({stop_.fd(), POLLIN, 0});
            fds.push_back({changed_.fd(), POLLIN, 0});
            for (const Entry& entry : entries_)
                fds.push_back({entry.slow_check->check_fd(), POLLIN, 0});
        }
        const std::int64_t left = (next - sys::monotonic_ns()) / 1'000'000 + 1;
        (void)::poll(fds.data(), fds.size(),
                     static_cast<int>(std::clamp<std::int64_t>(left, 0, INT_MAX)));
        if (fds[0].revents != 0)
            return;
        if (fds[1].revents != 0)
            changed_.clear();
    }
}

} // namespace iio_stream::detail
