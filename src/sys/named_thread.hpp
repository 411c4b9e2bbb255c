// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/stats.hpp"

#include <ctime>
#include <string>
#include <string_view>
#include <vector>

namespace iio_stream::sys {

/// Names the calling thread while it exists, so that `top -H`, `ps -L`, `perf` and `gdb` show what
/// the thread does, and counts the thread's CPU time under that name. Linux keeps 15 characters of
/// a name. Create it first in the thread's main function.
/// Thread: it is created and destroyed on the thread that it names.
class NamedThread {
public:
    explicit NamedThread(std::string_view name) noexcept;
    NamedThread(const NamedThread&) = delete;
    ~NamedThread();

private:
    friend std::vector<ThreadTime> thread_times();

    char name_[16] = {};
    clockid_t clock_ = CLOCK_THREAD_CPUTIME_ID; ///< any thread can read it while this one exists
    NamedThread* next_ = nullptr;
};

/// Returns the CPU time of each name that threads have had so far, in order of the names. Threads
/// of one name are added up.
std::vector<ThreadTime> thread_times();

} // namespace iio_stream::sys
