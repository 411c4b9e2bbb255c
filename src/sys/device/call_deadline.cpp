// SPDX-License-Identifier: MIT
#include "sys/device/call_deadline.hpp"

#include <algorithm>
#include <unistd.h>

namespace iio_stream::sys {

namespace {

constexpr int kSignal = SIGURG;
constexpr long kAgainNs = 10'000'000; ///< interval of further signals, for a call that starts after
                                      ///< the deadline

void do_nothing(int) {}

// By default the signal is discarded, and a discarded signal does not interrupt a call.
void take_signal() noexcept
{
    struct sigaction action {};
    if (::sigaction(kSignal, nullptr, &action) != 0 || (action.sa_flags & SA_SIGINFO) != 0 ||
        (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN))
        return;
    action = {};
    action.sa_handler = &do_nothing;
    (void)::sigaction(kSignal, &action, nullptr);
}

} // namespace

CallDeadline::CallDeadline(std::int64_t ns) noexcept
{
    take_signal();
    sigset_t mine;
    ::sigemptyset(&mine);
    ::sigaddset(&mine, kSignal);
    (void)::pthread_sigmask(SIG_UNBLOCK, &mine, &before_);
    sigevent event{};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = kSignal;
    event._sigev_un._tid = ::gettid(); // glibc has no other name for this field
    armed_ = ::timer_create(CLOCK_MONOTONIC, &event, &timer_) == 0;
    if (!armed_)
        return;
    ns = std::max<std::int64_t>(ns, 1); // 0 would disarm the timer
    itimerspec when{};
    when.it_value = {static_cast<time_t>(ns / 1'000'000'000),
                     static_cast<long>(ns % 1'000'000'000)};
    when.it_interval = {0, kAgainNs};
    (void)::timer_settime(timer_, 0, &when, nullptr);
}

CallDeadline::~CallDeadline()
{
    if (armed_)
        (void)::timer_delete(timer_);
    (void)::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

} // namespace iio_stream::sys
