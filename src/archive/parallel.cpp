// SPDX-License-Identifier: MIT
#include "archive/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace iio_stream::archive {

namespace {

constexpr std::chrono::milliseconds kCheckEvery{200};

class Workers {
public:
    Workers(const ArchiveConfig& config, std::size_t count,
            const std::function<void(Store&, std::size_t)>& job)
        : config_(config), count_(count), job_(job)
    {}

    ~Workers()
    {
        ended_ = true;
        for (std::thread& one : threads_)
            one.join();
    }

    void run(const GoOn& go_on)
    {
        const std::size_t most = std::clamp<std::size_t>(config_.connections, 1, 64);
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
        std::exception_ptr failed;
        try {
            const std::unique_ptr<Store> store =
                open_store(config_.place, config_.retry, [this] { return !ended_.load(); });
            for (std::size_t n = next_++; n < count_ && !ended_; n = next_++)
                job_(*store, n);
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

    const ArchiveConfig& config_;
    const std::size_t count_;
    const std::function<void(Store&, std::size_t)>& job_;
    std::vector<std::thread> threads_;
    std::atomic<std::size_t> next_{0};
    std::atomic<bool> ended_{false};
    std::mutex mutex_;
    std::condition_variable done_;
    std::size_t running_ = 0;
    std::exception_ptr failed_;
};

} // namespace

void in_parallel(const ArchiveConfig& config, std::size_t count,
                 const std::function<void(Store&, std::size_t)>& job, const GoOn& go_on)
{
    Workers(config, count, job).run(go_on);
}

} // namespace iio_stream::archive
