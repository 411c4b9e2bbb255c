// SPDX-License-Identifier: MIT
#include "archive/parallel.hpp"

#include "sys/named_thread.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace iio_stream::archive {

namespace {

constexpr std::chrono::milliseconds kCheckEvery{200};

class Workers {
public:
    Workers(std::size_t count, const std::function<Job(GoOn)>& start) : count_(count), start_(start)
    {}

    ~Workers()
    {
        ended_ = true;
        for (std::thread& one : threads_)
            one.join();
    }

    void run(std::size_t most, const GoOn& go_on)
    {
        running_ = std::min(most, count_);
        for (std::size_t left = running_; left != 0; --left)
            threads_.emplace_back([this] { work(); });
        std::unique_lock lock(mutex_);
        while (!done_.wait_for(lock, kCheckEvery, [this] { return running_ == 0; })) {
            lock.unlock();
            if (go_on && !go_on())
                throw Stopped();
            lock.lock();
        }
        if (failed_)
            std::rethrow_exception(failed_);
    }

private:
    void work() noexcept
    {
        const sys::NamedThread name("iios-store");
        std::exception_ptr failed;
        try {
            const Job job = start_([this] { return !ended_.load(); });
            for (std::size_t n = next_++; n < count_ && !ended_; n = next_++)
                job(n);
        } catch (...) {
            failed = std::current_exception();
        }
        const std::lock_guard lock(mutex_);
        if (failed && !failed_ && !ended_)
            failed_ = failed;
        ended_ = ended_ || failed;
        --running_;
        done_.notify_one();
    }

    const std::size_t count_;
    const std::function<Job(GoOn)>& start_;
    std::vector<std::thread> threads_;
    std::atomic<std::size_t> next_{0};
    std::atomic<bool> ended_{false};
    std::mutex mutex_;
    std::condition_variable done_;
    std::size_t running_ = 0;
    std::exception_ptr failed_;
};

} // namespace

void in_parallel(std::size_t most, std::size_t count, const std::function<Job(GoOn)>& start,
                 const GoOn& go_on)
{
    Workers(count, start).run(most, go_on);
}

void in_parallel(const ArchiveConfig& config, std::size_t count,
                 const std::function<void(Store&, std::size_t)>& job, const GoOn& go_on)
{
    const auto start = [&](GoOn jobs_go_on) -> Job {
        std::shared_ptr<Store> store =
            open_store(config.place, config.retry, std::move(jobs_go_on));
        return [&job, store = std::move(store)](std::size_t n) { job(*store, n); };
    };
    in_parallel(std::clamp<std::size_t>(config.connections, 1, 64), count, start, go_on);
}

} // namespace iio_stream::archive
