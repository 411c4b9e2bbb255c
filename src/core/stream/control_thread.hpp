// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/endpoint.hpp"
#include "sys/event.hpp"

#include <mutex>
#include <poll.h>
#include <thread>
#include <vector>

namespace iio_stream::detail {

/// The thread that runs the sources' slow checks, so that no thread that moves blocks waits for
/// debugfs or a bus. A check that throws is not called again, because the source's blocks will
/// reveal the problem.
/// Thread: add() and remove() on any thread.
class ControlThread {
public:
    ControlThread() = default;
    ~ControlThread();

    void start();
    /// Runs the first check on the calling thread before it returns.
    void add(SlowCheck& check);
    /// Returns when the check is not running. It does not run afterwards.
    void remove(SlowCheck& check);

private:
    struct Entry {
        SlowCheck* slow_check;
        std::int64_t due_ns;
    };

    void run();
    std::int64_t check_due();
    static bool check(Entry& entry) noexcept;

    std::mutex mutex_;
    std::vector<Entry> entries_;
    /// Room for one pollfd per entry. The thread takes the vector over, so that run() itself need
    /// not allocate.
    std::vector<pollfd> room_;
    sys::Event changed_, stop_;
    std::thread thread_;
};

} // namespace iio_stream::detail
