// SPDX-License-Identifier: MIT
#include "iio/tuning/tuning_watch.hpp"

#include "sys/event.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace iio_stream::iio {

namespace {

constexpr std::chrono::nanoseconds kReadSettingsEvery = std::chrono::seconds(1);
/// The real rate may exceed the stated rate by this fraction.
constexpr double kFasterThanStated = 1.0 / 64;

std::mutex watches_mutex;
std::vector<TuningWatch*> watches; ///< watches of the streams in this process

void read_all_watches() noexcept
{
    const std::lock_guard lock(watches_mutex);
    for (TuningWatch* watch : watches)
        watch->read();
}

} // namespace

TuningWatch::TuningWatch(const FrontEnd& front) : settings_reader_(front)
{
    for (const std::string& file : settings_reader_.files())
        files_.add(file);
    read();
}

TuningWatch::~TuningWatch()
{
    const std::lock_guard lock(watches_mutex);
    std::erase(watches, this);
}

void TuningWatch::reset(double rate)
{
    {
        const std::lock_guard lock(watches_mutex);
        std::erase(watches, this);
        watches.push_back(this);
    }
    rate_ = rate;
    marks_.clear();
    retunings_complete_until_ = 0;
    final_read_ns_ = 0;
    due_ns_ = 0;
    read();
    const std::lock_guard lock(mutex_);
    changes_.clear();
    first_ = settings_;
    streaming_ = true;
}

void TuningWatch::read() noexcept
try {
    const std::lock_guard lock(mutex_);
    const std::int64_t now = sys::monotonic_ns();
    const auto found = settings_reader_.read();
    if (!found)
        return; // the device is gone or busy; the next reading covers this time too
    if (streaming_ && *found != settings_ &&
        !changes_.push({read_ns_.load(std::memory_order_relaxed), sys::monotonic_ns(), *found}))
        return; // the queue is full: no block has come for a long time
    settings_ = *found;
    read_ns_.store(now, std::memory_order_release);
} catch (const std::exception&) {
    // Out of memory: the call has no effect.
}

std::chrono::nanoseconds TuningWatch::check()
{
    const bool written = files_.take();
    if (settings_reader_.empty())
        return std::chrono::hours(1);
    if (written || sys::monotonic_ns() >= due_ns_) {
        read();
        due_ns_ = sys::after(kReadSettingsEvery.count());
    }
    return std::chrono::nanoseconds(std::max<std::int64_t>(due_ns_ - sys::monotonic_ns(), 0));
}

// The marks might not reach back that far, so the result is at least the previous one.
std::uint64_t TuningWatch::complete_at(std::int64_t ns) const
{
    return std::max(retunings_complete_until_, marks_.complete_at(ns, rate_));
}

// Returns the position from which samples had certainly not been produced at `ns`. The block ends
// at `end`.
std::uint64_t TuningWatch::begun_at(std::int64_t ns, const Completed& block,
                                    std::uint64_t end) const
{
    std::uint64_t made = block.in_flight; // after the end of the block
    if (rate_ > 0 && block.latest_ns != kAnyTime) {
        const double since = static_cast<double>(ns - block.ns + block.latest_ns) * 1e-9;
        const double most = std::ceil(std::max(since, 0.0) * rate_ * (1 + kFasterThanStated));
        made = most < static_cast<double>(made) ? static_cast<std::uint64_t>(most) : made;
    }
    return made == kUnknown ? kUnknown : end + made;
}

void TuningWatch::report(detail::SampleTracker& tracker, const Completed& block)
{
    const std::uint64_t end = tracker.position() + block.samples;
    // Must be loaded before the changes.
    const std::int64_t read_ns = read_ns_.load(std::memory_order_acquire);
    while (const auto change = changes_.pop()) {
        // It is unknown which rate the device had at each sample. The highest rate reaches back
        // farthest.
        rate_ = std::max(rate_, change->settings.rate.value_or(0));
        tracker.retuned(complete_at(change->since_ns), begun_at(change->until_ns, block, end),
                        change->settings);
    }
    // Once a mark is later than the reading, later blocks do not change the result.
    if (read_ns != final_read_ns_) {
        retunings_complete_until_ = complete_at(read_ns);
        if (const auto newest = marks_.newest(); newest && newest->ns >= read_ns)
            final_read_ns_ = read_ns;
    }
    tracker.set_retunings_final_before(retunings_complete_until_);
}

void TuningWatch::completed(detail::SampleTracker& tracker, const Completed& block)
{
    if (settings_reader_.empty())
        return;
    marks_.add({tracker.position() + block.samples, block.ns});
    report(tracker, block);
}

void TuningWatch::finish(detail::SampleTracker& tracker)
{
    {
        const std::lock_guard lock(watches_mutex);
        std::erase(watches, this);
    }
    if (settings_reader_.empty())
        return;
    read();
    report(tracker, {0, 0, kAnyTime, kUnknown});
    const std::lock_guard lock(mutex_);
    streaming_ = false;
}

TuningNotice::TuningNotice() noexcept
{
    read_all_watches();
}

TuningNotice::~TuningNotice()
{
    read_all_watches();
}

} // namespace iio_stream::iio
