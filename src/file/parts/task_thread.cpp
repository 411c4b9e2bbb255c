// SPDX-License-Identifier: MIT
#include "file/parts/task_thread.hpp"

#include "sys/named_thread.hpp"
#include "sys/stream_file.hpp"

#include <utility>

namespace iio_stream::file {

void TaskThread::add(std::function<void()> task)
{
    const std::lock_guard lock(mutex_);
    list_.push_back(std::move(task));
    left_.fetch_add(1, std::memory_order_release);
    if (!thread_.joinable())
        thread_ = std::thread([this] {
            const sys::NamedThread name("iios-parts");
            run();
        });
    changed_.notify_one();
}

void TaskThread::run()
{
    sys::block_write_signals();
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [&] { return over_ || !list_.empty(); });
        if (list_.empty())
            return;
        std::function<void()> task = std::move(list_.front());
        list_.pop_front();
        lock.unlock();
        try {
            task();
        } catch (...) {
            if (!failed()) {
                failure_ = std::current_exception();
                failed_.store(true, std::memory_order_release);
            }
        }
        task = nullptr; // destroys the task's objects before its completion is signalled
        left_.fetch_sub(1, std::memory_order_release);
        done_.set();
        lock.lock();
    }
}

void TaskThread::finish() noexcept
{
    {
        const std::lock_guard lock(mutex_);
        over_ = true;
        changed_.notify_one();
    }
    if (thread_.joinable())
        thread_.join();
    thread_ = {};
    over_ = false;
}

void TaskThread::check() const
{
    if (failed())
        std::rethrow_exception(failure_);
}

} // namespace iio_stream::file
