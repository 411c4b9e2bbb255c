// SPDX-License-Identifier: MIT
// When OverflowDetector reads the register, and what the first read of a stream says.
#include "iio/overflow_detector.hpp"
#include "iio_stream/error.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace iio_stream::iio {

namespace {

/// A core that takes every sample without a DMA for a loss sets a cleared bit again within some
/// samples, but no later than this. ADI's HDL (library/common/up_xfer_status.v) passes the bit on
/// every 64 clocks of the converter, once the one before has arrived.
constexpr double kResetSamples = 256, kShortestReset = 200'000, kLongestReset = 20'000'000;
/// How long before the end the register is read, besides kInterruptLatency: the control thread may
/// wake up late.
constexpr std::int64_t kBeforeEnd = 80'000'000;

} // namespace

// A bit that stays clear while the device is off reports every loss from the first sample on. One
// that does not says nothing until it was cleared after the start.
void OverflowDetector::clear()
{
    if (!overflow_register_)
        return;
    idle_sets_ = true; // unless it can be read
    try {
        if (overflow_register_->take(OverflowRegister::Bit::overflow)) {
            const double samples_ns = rate_ > 0 ? 1e9 * kResetSamples / rate_ : kLongestReset;
            const double reset_ns = std::clamp(samples_ns, kShortestReset, kLongestReset);
            (void)sys::wait_for(-1, 0, sys::after(std::llround(reset_ns)));
        }
        // It stays set: nothing but look() is to clear it from here on.
        idle_sets_ = overflow_register_->is_set(OverflowRegister::Bit::overflow);
    } catch (const Error&) {
        // look() will show.
    }
}

void OverflowDetector::started(std::int64_t before_ns)
{
    since_ns_ = begun_ns_ = before_ns;
    latest_ = {0, before_ns};
    incomplete_ns_ = before_ns;
    expect_end();
    if (overflow_register_ && !idle_sets_)
        primed_ns_.store(before_ns, std::memory_order_release);
}

// Early enough for a bit then found set to be certainly before the last sample: see gap_of().
void OverflowDetector::expect_end() noexcept
{
    std::int64_t at_ns = INT64_MAX;
    if (overflow_register_ && rate_ > 0 && end_ != kUnknown && latest_.ns != 0) {
        const double left =
            static_cast<double>(end_) - static_cast<double>(latest_.position + ahead_);
        const double left_ns = std::clamp(left / rate_ * 1e9, -1e15, 1e15);
        at_ns = latest_.ns + std::llround(left_ns) -
                (kInterruptLatency + kBeforeEnd + 3 * overflow_register_->access_ns());
    }
    before_end_ns_.store(at_ns, std::memory_order_relaxed);
}

// What the bit said of the first attempt is not of this stream.
void OverflowDetector::restart(const std::function<void()>& switch_on)
{
    const std::lock_guard lock(looking_);
    taken_.store(given_.load(std::memory_order_acquire), std::memory_order_release);
    answered_.clear();
    primed_ns_ = 0;
    others_clear_ = driver_clears_;
    settled_.reset();
    clear();
    const std::int64_t before_ns = sys::monotonic_ns();
    switch_on();
    started(before_ns);
    asked_.set();
}

std::chrono::nanoseconds OverflowDetector::check()
{
    const bool in_turn = !asked_.is_set();
    asked_.clear();
    const std::chrono::nanoseconds next = overflow_register_ ? check_register() : kRoutine;
    if (in_turn) // the rate at times without a loss counts too
        (void)rates_->highest();
    return next;
}

std::chrono::nanoseconds OverflowDetector::check_register()
{
    if (std::exchange(put_off_, false))
        return std::chrono::nanoseconds(0); // not while the stream waits to be started
    const bool suspecting = suspecting_.exchange(false, std::memory_order_relaxed);
    if (given_ - taken_.load(std::memory_order_acquire) == kMax)
        return std::chrono::nanoseconds(kAskEvery); // no one listens at the moment
    look();
    const std::chrono::nanoseconds next =
        suspecting ? std::chrono::nanoseconds(kAskEvery) : kRoutine;
    const std::chrono::nanoseconds left(before_end_ns_.load(std::memory_order_relaxed) -
                                        sys::monotonic_ns());
    return left.count() > 0 ? std::min(next, left) : next;
}

// The first read after the start is doubtful. A core that sets the bit without a DMA has set it
// before; others may have while they were being switched on.
void OverflowDetector::look()
{
    const std::lock_guard lock(looking_);
    const std::size_t given = given_.load(std::memory_order_relaxed);
    const bool first = since_ns_ == begun_ns_;
    const std::int64_t now = sys::monotonic_ns();
    try {
        const bool overflowed = overflow_register_->take(OverflowRegister::Bit::overflow);
        if (first && idle_sets_) {
            others_clear_ = driver_clears_ || !overflowed;
            primed_ns_.store(sys::monotonic_ns(), std::memory_order_release);
        } else {
            answers_[given % kMax] = {since_ns_, now, sys::monotonic_ns(), overflowed, !first};
            given_.store(given + 1, std::memory_order_release);
            answered_.set();
        }
        since_ns_ = now;
        blind_ = false;
    } catch (const Error&) {
        failed_ = blind_ = true;
        // Lost with its device; suspicions stay possible losses.
    }
}

} // namespace iio_stream::iio
