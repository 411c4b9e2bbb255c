// SPDX-License-Identifier: MIT
#include "iio/tuning_watch.hpp"

#include "sys/event.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace iio_stream::iio {

namespace {

constexpr std::chrono::nanoseconds kReadSettingsEvery = std::chrono::seconds(1);
/// Completions closer together than this share a mark.
constexpr std::int64_t kTuningMarkEvery = 10'000'000;
/// How far the real rate may exceed the stated one.
constexpr double kFasterThanStated = 1.0 / 64;

std::mutex watches_mutex;
std::vector<TuningWatch*> watches; ///< of this process, with samples coming in

void look_at_all() noexcept
{
    const std::lock_guard lock(watches_mutex);
    for (TuningWatch* watch : watches)
        watch->look();
}

} // namespace

TuningWatch::TuningWatch(const FrontEnd& front) : dials_(front)
{
    for (const std::string& file : dials_.files())
        files_.add(file);
    look();
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
    marked_ = 0;
    vouched_ = 0;
    vouched_ns_ = 0;
    due_ns_ = 0;
    look();
    const std::lock_guard lock(mutex_);
    given_ = taken_ = 0;
    first_ = settings_;
    streaming_ = true;
}

void TuningWatch::look() noexcept
try {
    const std::lock_guard lock(mutex_);
    const std::int64_t now = sys::monotonic_ns();
    const auto found = dials_.read();
    if (!found)
        return; // gone with its device, or busy: the next look covers this time too
    const std::size_t given = given_.load(std::memory_order_relaxed);
    if (streaming_ && *found != settings_) {
        if (given - taken_.load(std::memory_order_acquire) == kMax)
            return; // no block has come for long
        changes_[given % kMax] = {looked_ns_.load(std::memory_order_relaxed), sys::monotonic_ns(),
                                  *found};
        given_.store(given + 1, std::memory_order_release);
    }
    settings_ = *found;
    looked_ns_.store(now, std::memory_order_release);
} catch (const std::exception&) {
    // Out of memory: as if it had not looked.
}

std::chrono::nanoseconds TuningWatch::check()
{
    const bool written = files_.take();
    if (dials_.empty())
        return std::chrono::hours(1);
    if (written || sys::monotonic_ns() >= due_ns_) {
        look();
        due_ns_ = sys::after(kReadSettingsEvery.count());
    }
    return std::chrono::nanoseconds(std::max<std::int64_t>(due_ns_ - sys::monotonic_ns(), 0));
}

// The samples of a block before its last are older than its completion, by the rate.
std::uint64_t TuningWatch::complete_at(std::int64_t ns) const
{
    std::uint64_t position = vouched_; // if the marks do not reach back that far
    for (std::size_t i = marked_; i > 0 && marked_ - i < kMarks; --i) {
        const Mark& mark = marks_[(i - 1) % kMarks];
        if (mark.ns <= ns)
            return std::max(position, mark.position);
        if (rate_ <= 0)
            continue;
        const double later = std::ceil(static_cast<double>(mark.ns - ns) * 1e-9 * rate_);
        if (later < static_cast<double>(mark.position))
            position = std::max(position, mark.position - static_cast<std::uint64_t>(later));
    }
    return position;
}

// Samples from this one on had not been produced at that time; the block ends at `end`.
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

void TuningWatch::tell(detail::SampleTracker& tracker, const Completed& block)
{
    const std::uint64_t end = tracker.position() + block.samples;
    const std::int64_t looked_ns = looked_ns_.load(std::memory_order_acquire); // before the changes
    std::size_t taken = taken_.load(std::memory_order_relaxed);
    for (; taken != given_.load(std::memory_order_acquire); ++taken) {
        const Change& change = changes_[taken % kMax];
        // Which of its rates the device had at each sample is unknown: the highest reaches back
        // farthest.
        rate_ = std::max(rate_, change.settings.rate.value_or(0));
        tracker.retuned(complete_at(change.since_ns), begun_at(change.until_ns, block, end),
                        change.settings);
        taken_.store(taken + 1, std::memory_order_release);
    }
    // As soon as a mark is later than the look, what comes after it says no more.
    if (looked_ns != vouched_ns_) {
        vouched_ = complete_at(looked_ns);
        if (marked_ > 0 && marks_[(marked_ - 1) % kMarks].ns >= looked_ns)
            vouched_ns_ = looked_ns;
    }
    tracker.vouch(vouched_);
}

void TuningWatch::completed(detail::SampleTracker& tracker, const Completed& block)
{
    if (dials_.empty())
        return;
    if (marked_ == 0 || block.ns - marks_[(marked_ - 1) % kMarks].ns >= kTuningMarkEvery)
        marks_[marked_++ % kMarks] = {tracker.position() + block.samples, block.ns};
    tell(tracker, block);
}

void TuningWatch::conclude(detail::SampleTracker& tracker)
{
    {
        const std::lock_guard lock(watches_mutex);
        std::erase(watches, this);
    }
    if (dials_.empty())
        return;
    look();
    tell(tracker, {0, 0, kAnyTime, kUnknown});
    const std::lock_guard lock(mutex_);
    streaming_ = false;
}

TuningNotice::TuningNotice() noexcept
{
    look_at_all();
}

TuningNotice::~TuningNotice()
{
    look_at_all();
}

} // namespace iio_stream::iio
