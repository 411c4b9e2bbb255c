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
/// debugfs or a bus. A source whose check throws is not checked again: its blocks will show what is
/// wrong.
/// Thread: add() and remove() on any.
class ControlThread {
public:
    ControlThread() = default;
    ~ControlThread();

    void start();
    /// Runs the first check itself, before it returns.
    void add(Source& source);
    /// Returns when no check of that source is running; none will run after that.
    void remove(Source& source);

private:
    struct Entry {
        Source* source;
        std::int64_t due_ns;
    };

    void run();
    std::int64_t check_due();
    static bool check(Entry& entry) noexcept;

    std::mutex mutex_;
    std::vector<Entry> entries_;
    std::vector<pollfd>
        room_; ///< room to watch all entries; the thread takes it and allocates nothing
    sys::Event changed_, stop_;
    std::thread thread_;
};

} // namespace iio_stream::detail
