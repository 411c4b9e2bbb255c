// SPDX-License-Identifier: MIT
#include "sys/named_thread.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <mutex>
#include <new>
#include <pthread.h>

namespace iio_stream::sys {

namespace {

struct Threads {
    std::mutex mutex;
    NamedThread* first = nullptr;                     ///< the threads that exist
    std::map<std::string, double, std::less<>> ended; ///< seconds of the threads that have ended
};

Threads& threads();

// The child of fork() has none of the other threads, and it can reuse the memory of their stacks.
Threads& make_threads()
{
    ::pthread_atfork([] { threads().mutex.lock(); }, [] { threads().mutex.unlock(); },
                     [] {
                         threads().first = nullptr;
                         threads().mutex.unlock();
                     });
    alignas(Threads) static std::byte memory[sizeof(Threads)];
    return *new (memory) Threads;
}

// It is never destroyed, because detached threads can end while the process exits. It needs no
// memory of the heap, so a thread can always be named.
Threads& threads()
{
    static Threads& all = make_threads();
    return all;
}

double seconds_of(clockid_t clock) noexcept
{
    timespec time{};
    ::clock_gettime(clock, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

} // namespace

NamedThread::NamedThread(std::string_view name) noexcept
{
    name.copy(name_, sizeof name_ - 1);
    ::pthread_setname_np(::pthread_self(), name_);
    ::pthread_getcpuclockid(::pthread_self(), &clock_);
    const std::lock_guard lock(threads().mutex);
    next_ = threads().first;
    threads().first = this;
}

NamedThread::~NamedThread()
{
    const double seconds = seconds_of(CLOCK_THREAD_CPUTIME_ID);
    const std::lock_guard lock(threads().mutex);
    NamedThread** link = &threads().first;
    while (*link != this && *link != nullptr)
        link = &(*link)->next_;
    if (*link == this) // a thread that called fork() is not in the child's list
        *link = next_;
    try {
        threads().ended[name_] += seconds;
    } catch (const std::bad_alloc&) { // the time of this thread is missing in the table
    }
}

std::vector<ThreadTime> thread_times()
{
    const std::lock_guard lock(threads().mutex);
    auto sums = threads().ended;
    for (const NamedThread* one = threads().first; one != nullptr; one = one->next_)
        sums[one->name_] += seconds_of(one->clock_);
    std::vector<ThreadTime> times;
    for (const auto& [name, seconds] : sums)
        times.push_back({name, seconds});
    return times;
}

} // namespace iio_stream::sys
