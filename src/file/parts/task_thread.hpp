// SPDX-License-Identifier: MIT
#pragma once

#include "sys/event.hpp"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace iio_stream::file {

/// Runs slow tasks one after another, on a thread of its own.
/// Thread: any thread may call add(); one thread calls finish() and check().
class TaskThread {
public:
    /// `done` is set after each task.
    explicit TaskThread(sys::Event& done) : done_(done) {}
    TaskThread(const TaskThread&) = delete;
    ~TaskThread() { finish(); }

    void add(std::function<void()> task);
    std::size_t left() const noexcept { return left_.load(std::memory_order_acquire); }
    void finish() noexcept; ///< waits until all tasks are done; more may be added later

    bool failed() const noexcept { return failed_.load(std::memory_order_acquire); }
    void check() const; ///< rethrows the exception of the first failed task
    void forget() noexcept { failed_ = false; }

private:
    void run();

    sys::Event& done_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::function<void()>> list_; ///< under mutex_
    bool over_ = false;                      ///< under mutex_
    std::atomic<std::size_t> left_{0};
    std::atomic<bool> failed_{false};
    std::exception_ptr failure_; ///< written before failed_
    std::thread thread_;
};

} // namespace iio_stream::file
