// SPDX-License-Identifier: MIT
#include "iio/loss/overflow_detector.hpp"

#include "core/loss/interrupt_latency.hpp"
#include "core/loss/losses.hpp"
#include "iio_stream/error.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace iio_stream::iio {

namespace {

/// The real rate may be lower than the stated rate by one part in this many.
constexpr std::int64_t kRateSlack = 64;
/// A starvation holds its block back for at most this long.
constexpr std::int64_t kLongestHold = 50'000'000;
/// A register that takes longer to read is behind a slow bus.
constexpr std::int64_t kSlowRegister = 2'000'000;
/// The longest time that a read of the register may take on the thread that moves blocks. It is the
/// duration of a block divided by kBlockShare, or kFastRegister nanoseconds if the duration is not
/// known.
constexpr std::int64_t kBlockShare = 8;
constexpr std::int64_t kFastRegister = 100'000;
/// A core that counts every sample without a DMA as a loss sets a cleared bit again within
/// kResetSamples samples. The wait for that is limited to these times, in nanoseconds. ADI's HDL
/// (library/common/up_xfer_status.v) transfers the bit every 64 clocks of the converter, after the
/// previous transfer has arrived.
constexpr double kResetSamples = 256, kShortestReset = 200'000, kLongestReset = 20'000'000;
/// The register is read this long before the end, in addition to the usual interrupt latency,
/// because the control thread might wake up late.
constexpr std::int64_t kBeforeEnd = 80'000'000;

} // namespace

void OverflowDetector::reset(std::optional<StatusRegister> overflow_register, double rate,
                             RateWatch& rates, std::size_t block_samples, std::size_t blocks,
                             bool holds, bool driver_clears, Counter* counter)
{
    overflow_register_ = std::move(overflow_register);
    counter_ = counter;
    rate_ = rate;
    rates_ = &rates;
    block_ns_ = 0;
    hold_ns_ = kLongestHold;
    if (rate > 0) {
        const double block_ns = static_cast<double>(block_samples) / rate * 1e9;
        block_ns_ = std::llround(std::min(block_ns, 1e15));
        // A block that is held back is not requeued, so at most a quarter of the queue may be held
        // back.
        const double spare_ns = block_ns * static_cast<double>(blocks) / 4;
        hold_ns_ = std::llround(std::min(spare_ns, static_cast<double>(kLongestHold)));
    }
    ahead_ = holds ? 0 : 2 * block_samples; // blocks that read() has not returned yet
    first_read_deferred_ = overflow_register_ && overflow_register_->access_ns() > kSlowRegister;
    if (!holds || (overflow_register_ && 2 * overflow_register_->access_ns() > hold_ns_))
        hold_ns_ = 0; // the reading would come too late
    is_fast_ = holds && overflow_register_ &&
               overflow_register_->access_ns() <=
                   (block_ns_ != 0 ? block_ns_ / kBlockShare : kFastRegister);
    starvation_count_ = 0;
    marks_.clear();
    known_ns_ = cleared_ns_ = ended_ns_ = requested_ns_ = wait_until_ns_ = since_ns_ = 0;
    decided_.reset();
    end_ = kUnknown;
    latest_ = {0, 0};
    incomplete_ns_ = 0;
    before_end_ns_ = INT64_MAX;
    valid_from_ns_ = begun_ns_ = 0;
    set_while_idle_ = false;
    driver_clears_ = driver_clears;
    cleared_by_others_ = driver_clears;
    readings_.clear();
    starved_since_read_ = read_failed_ = register_is_evidence_ = loss_found_ = last_read_failed_ =
        false;
    read_requested_.clear();
    reading_ready_.clear();
}

void OverflowDetector::ends_at(std::uint64_t position) noexcept
{
    end_ = position;
    schedule_last_read();
}

// A bit that stays clear while the device is off reports every loss from the first sample on.
// Otherwise the bit is meaningless until it has been cleared after the start.
void OverflowDetector::clear()
{
    if (!overflow_register_)
        return;
    set_while_idle_ = true; // assumed unless the register can be read
    try {
        if (overflow_register_->take(StatusRegister::Bit::overflow)) {
            const double samples_ns = rate_ > 0 ? 1e9 * kResetSamples / rate_ : kLongestReset;
            const double reset_ns = std::clamp(samples_ns, kShortestReset, kLongestReset);
            (void)sys::wait_for(-1, 0, sys::after(std::llround(reset_ns)));
        }
        // This read does not clear the bit: from here on, only try_read() may do that.
        set_while_idle_ = overflow_register_->is_set(StatusRegister::Bit::overflow);
    } catch (const Error&) {
        // try_read() will fail as well and will note the failure.
    }
}

void OverflowDetector::started(std::int64_t before_ns)
{
    since_ns_ = begun_ns_ = before_ns;
    latest_ = {0, before_ns};
    incomplete_ns_ = before_ns;
    schedule_last_read();
    if (overflow_register_ && !set_while_idle_)
        valid_from_ns_.store(before_ns, std::memory_order_release);
}

// The readings of the first attempt do not concern this stream.
void OverflowDetector::restart(const std::function<void()>& switch_on)
{
    const std::lock_guard lock(register_mutex_);
    readings_.clear();
    reading_ready_.clear();
    valid_from_ns_ = 0;
    cleared_by_others_ = driver_clears_;
    decided_.reset();
    clear();
    const std::int64_t before_ns = sys::monotonic_ns();
    switch_on();
    started(before_ns);
    read_requested_.set();
}

// Where the driver clears the bit, a clear bit proves nothing, so only a set bit is recorded.
void OverflowDetector::before_enqueue()
{
    if (!is_read_before_enqueue() || valid_from_ns_.load(std::memory_order_acquire) == 0)
        return;
    const std::lock_guard lock(register_mutex_);
    read_register(true);
}

void OverflowDetector::queued(std::int64_t queued_ns, std::int64_t ns, std::uint64_t position)
{
    if (ended_ns_ != 0 && queued_ns > ended_ns_) {
        starved(ended_ns_, queued_ns, position);
        ended_ns_ = ns;
        return;
    }
    // While samples arrive steadily, a block that seems to end later than the rate implies has
    // ended on time, and its interrupt was late.
    std::int64_t ended = ns;
    if (ended_ns_ != 0 && block_ns_ != 0)
        ended = std::clamp(ended_ns_ + block_ns_ + block_ns_ / kRateSlack,
                           ns - detail::kCorrectedInterruptLatency, ns);
    ended_ns_ = std::max(ended_ns_, ended);
}

void OverflowDetector::starved(std::int64_t begin_ns, std::int64_t end_ns, std::uint64_t position)
{
    const std::uint64_t made =
        samples_in(end_ns - begin_ns + detail::kUsualInterruptLatency, end_ns);
    const Starvation starvation{begin_ns, end_ns, position, detail::add_losses(position, made),
                                made};
    if (starvation_count_ < kMaxStarvations)
        starvations_[starvation_count_++] = starvation;
    else
        starvations_[kMaxStarvations - 1] = merge(starvations_[kMaxStarvations - 1], starvation);
    if (overflow_register_)
        request_read(sys::monotonic_ns());
}

void OverflowDetector::completed(std::uint64_t position, std::int64_t ns,
                                 std::int64_t not_before_ns, std::int64_t known_ns)
{
    marks_.add({position, ns});
    pauses_known_until(known_ns);
    latest_ = {position, ns};
    incomplete_ns_ = not_before_ns;
    schedule_last_read();
}

bool OverflowDetector::report(detail::SampleTracker& tracker, std::int64_t now_ns)
{
    // There is no register, or it has not been read yet.
    if (valid_from_ns_.load(std::memory_order_acquire) == 0) {
        report_unconfirmed(tracker);
        return true;
    }
    if (!decided_)
        decide_until(valid_from_ns_.load(std::memory_order_relaxed));
    while (const auto reading = take_reading())
        apply_reading(*reading, tracker);
    tracker.set_losses_final_before(
        starvation_count_ == 0 ? *decided_ : std::min(*decided_, starvations_[0].first));
    if (starvation_count_ == 0)
        return true;
    if (now_ns < wait_until_ns_)
        return false;
    // A starvation that no reading has decided within a second is a possible gap.
    while (starvation_count_ > 0 && starvations_[0].end_ns + kReadInterval.count() < now_ns) {
        report_gap(tracker, gap_of(starvations_[0]));
        remove(0);
    }
    return true;
}

void OverflowDetector::read_at_end(detail::SampleTracker& tracker)
{
    if (valid_from_ns_ == 0)
        return;
    while (readings_.is_full()) {
        const auto reading = take_reading();
        if (!reading)
            break;
        apply_reading(*reading, tracker);
    }
    {
        const std::lock_guard lock(register_mutex_);
        read_register(false);
    }
    register_is_evidence_ = !read_failed_ && !cleared_by_others_;
}

void OverflowDetector::finish(detail::SampleTracker& tracker)
{
    known_ns_ = INT64_MAX;
    end_ = std::min(end_, tracker.position());
    if (valid_from_ns_ != 0) {
        while (const auto reading = take_reading())
            apply_reading(*reading, tracker);
        if (last_read_failed_) { // the device is gone, and later losses are not known
            const std::int64_t now = sys::monotonic_ns();
            report_gap(tracker, gap_of(RegisterReading{since_ns_, now, now, true, false}));
        }
    }
    report_unconfirmed(tracker);
}

std::chrono::nanoseconds OverflowDetector::check()
{
    const bool in_turn = !read_requested_.is_set();
    read_requested_.clear();
    const std::chrono::nanoseconds next = overflow_register_ ? check_register() : kReadInterval;
    if (in_turn) // the rate in times without losses counts too
        (void)rates_->highest();
    return next;
}

std::uint64_t OverflowDetector::extra_samples_at_end() const noexcept
{
    if (!overflow_register_ || rate_ <= 0)
        return 0;
    const double seconds =
        kExtraSeconds + 2e-9 * static_cast<double>(overflow_register_->access_ns());
    return static_cast<std::uint64_t>(rate_ * seconds) + 1;
}

std::chrono::nanoseconds OverflowDetector::check_register()
{
    if (std::exchange(first_read_deferred_, false))
        return std::chrono::nanoseconds(0); // the start of the stream must not wait for the read
    const bool starved = starved_since_read_.exchange(false, std::memory_order_relaxed);
    if (!try_read())
        return std::chrono::nanoseconds(kShortestReadInterval);
    const std::chrono::nanoseconds next =
        starved ? std::chrono::nanoseconds(kShortestReadInterval) : kReadInterval;
    const std::chrono::nanoseconds left(before_end_ns_.load(std::memory_order_relaxed) -
                                        sys::monotonic_ns());
    return left.count() > 0 ? std::min(next, left) : next;
}

// Returns false if the source thread has not used the earlier readings yet.
bool OverflowDetector::try_read()
{
    const std::lock_guard lock(register_mutex_);
    if (readings_.is_full())
        return false;
    read_register(false);
    return true;
}

// The first read after the start is unreliable. A core that sets the bit without a DMA has set it
// before the start; other cores may have set it while they were being switched on. readings_ can be
// full only on the source thread, which also empties it, so the newest reading may be changed.
void OverflowDetector::read_register(bool only_set)
{
    const bool first = since_ns_ == begun_ns_;
    const std::int64_t now = sys::monotonic_ns();
    try {
        constexpr auto kBit = StatusRegister::Bit::overflow;
        const bool maybe = !only_set || overflow_register_->is_set_at_last_address(kBit);
        const bool overflowed = maybe && overflow_register_->take(kBit);
        if (first && set_while_idle_) {
            cleared_by_others_ = driver_clears_ || !overflowed;
            valid_from_ns_.store(sys::monotonic_ns(), std::memory_order_release);
        } else if (readings_.is_full()) {
            RegisterReading& last = readings_.back();
            last = {last.since_ns, now, sys::monotonic_ns(), last.overflowed || overflowed,
                    last.certain};
        } else if (overflowed || !only_set) {
            (void)readings_.push({since_ns_, now, sys::monotonic_ns(), overflowed, !first});
            reading_ready_.set();
        }
        since_ns_ = now;
        last_read_failed_ = false;
    } catch (const Error&) {
        read_failed_ = last_read_failed_ = true;
        // The device was unplugged; the starvations stay possible losses.
    }
}

void OverflowDetector::request_read(std::int64_t now_ns)
{
    // If the queue runs empty again and again, not every pause requests a reading: the control
    // thread then reads the register every kShortestReadInterval, for all starvations since the
    // last read.
    starved_since_read_.store(true, std::memory_order_relaxed);
    if (now_ns - requested_ns_ < kShortestReadInterval)
        return;
    requested_ns_ = now_ns;
    wait_until_ns_ = now_ns + hold_ns_;
    read_requested_.set();
}

// A bit that is set after `read_ns` concerns samples that the device produced after that time, so
// all earlier positions are decided.
void OverflowDetector::decide_until(std::int64_t read_ns)
{
    const auto mark = marks_.at(read_ns);
    decided_ = std::max(decided_.value_or(0), mark ? mark->position : 0);
}

std::optional<OverflowDetector::RegisterReading> OverflowDetector::take_reading()
{
    // A reading from the middle of a pause is kept until the block after the pause reveals the
    // pause. If a block is held back for a reading, this reading is used, because the block cannot
    // wait for the next one.
    const RegisterReading* const next = readings_.front();
    if (next == nullptr ||
        (next->certain && next->before_ns > known_ns_ && (starvation_count_ == 0 || hold_ns_ == 0)))
        return std::nullopt;
    reading_ready_.clear();
    return readings_.pop();
}

// The first reading that began after the end of a starvation decides it. A reading from the middle
// of a starvation can only confirm it. If others clear the bit, every reading can only confirm it.
// A loss after the end is not a gap of this stream.
void OverflowDetector::apply_reading(RegisterReading reading, detail::SampleTracker& tracker)
{
    if (reading.overflowed) {
        Gap place = gap_of(reading);
        if (!is_before_end(reading, place)) {
            reading.certain = false;
            place.lost_min = 0;
        }
        if (!(reading.certain && mark_confirmed(reading)) && place.offset_min < end_)
            report_gap(tracker, place);
        loss_found_ = loss_found_ || reading.certain;
        cleared_ns_ = reading.read_ns;
    }
    // A read that finds the bit set clears it, even during a pause that becomes known only later.
    // The first read does the same if the core set the bit while it was idle. A bit that is clear
    // afterwards does not rule out a loss in such a pause.
    const std::int64_t first_read_ns =
        set_while_idle_ ? valid_from_ns_.load(std::memory_order_relaxed) : 0;
    const std::int64_t cleared_ns =
        std::max(cleared_ns_, first_read_ns) + detail::kUsualInterruptLatency;
    for (; starvation_count_ > 0 && starvations_[0].end_ns <= reading.before_ns; remove(0))
        if (starvations_[0].confirmed || starvations_[0].begin_ns <= cleared_ns ||
            cleared_by_others_)
            report_gap(tracker, gap_of(starvations_[0]));
    if (starvation_count_ == 0)
        wait_until_ns_ = 0;
    decide_until(reading.before_ns);
}

// A set bit covers all pauses since it was last read, and the time between them: the loss was
// somewhere in this time.
bool OverflowDetector::mark_confirmed(const RegisterReading& reading)
{
    std::size_t joint = starvation_count_;
    for (std::size_t i = 0; i < starvation_count_;) {
        Starvation& starvation = starvations_[i];
        const bool meant =
            starvation.begin_ns - detail::kUsualInterruptLatency <= reading.read_ns &&
            starvation.end_ns + detail::kUsualInterruptLatency >= reading.since_ns;
        if (meant && joint < i) {
            starvations_[joint] = merge(starvations_[joint], starvation);
            remove(i);
            continue;
        }
        if (meant) {
            starvation.confirmed = true;
            joint = i;
        }
        ++i;
    }
    if (joint == starvation_count_)
        return false;
    Starvation& starvation = starvations_[joint];
    const Gap around = gap_of(reading);
    starvation.begin_ns = std::min(starvation.begin_ns, reading.since_ns);
    starvation.first = std::min(starvation.first, around.offset_min);
    starvation.until = std::max(starvation.until, around.offset_max);
    const std::int64_t end_ns = std::max(starvation.end_ns, reading.read_ns);
    starvation.made =
        samples_in(end_ns - starvation.begin_ns + detail::kUsualInterruptLatency, reading.read_ns);
    return true;
}

// The FIFO can deliver samples of the first pause after the second pause.
OverflowDetector::Starvation OverflowDetector::merge(const Starvation& a, const Starvation& b)
{
    return {
        std::min(a.begin_ns, b.begin_ns),   std::max(a.end_ns, b.end_ns),
        std::min(a.first, b.first),         std::max(a.until, detail::add_losses(b.until, a.made)),
        detail::add_losses(a.made, b.made), a.confirmed || b.confirmed};
}

Gap OverflowDetector::gap_of(const Starvation& s)
{
    return {s.first, s.until, s.confirmed ? 1U : 0U, s.made,
            s.confirmed ? Evidence::overflow_bit : Evidence::starvation};
}

// Returns the gap of a reading without regard to starvations. The loss can lie anywhere between the
// samples that were complete at the previous read and the samples that had been produced when the
// bit was found set.
Gap OverflowDetector::gap_of(const RegisterReading& reading) const
{
    const detail::Mark first = marks_.at(reading.since_ns).value_or(detail::Mark{0, 0});
    const detail::Mark last =
        marks_.at(reading.read_ns).value_or(detail::Mark{0, reading.since_ns});
    const std::int64_t until_ns = reading.read_ns + detail::kUsualInterruptLatency;
    const std::uint64_t since = samples_in(until_ns - last.ns, reading.read_ns);
    const std::uint64_t all = samples_in(until_ns - reading.since_ns, reading.read_ns);
    return {first.position, detail::add_losses(last.position + ahead_, since),
            reading.certain ? 1U : 0U, all, Evidence::overflow_bit};
}

// Whether a set bit means a loss before the end of the stream. It does if the whole gap is before
// the end. It also does if the bit was read before the last sample was produced, or before the end
// of a pause that a block followed.
bool OverflowDetector::is_before_end(const RegisterReading& reading, const Gap& place) const
{
    if (end_ == kUnknown || place.offset_max < end_)
        return true;
    if (latest_.position <= end_ &&
        reading.read_ns + detail::kUsualInterruptLatency <= incomplete_ns_)
        return true;
    return starvation_count_ > 0 && reading.read_ns <= starvations_[starvation_count_ - 1].end_ns;
}

// Schedules the last read early enough that a bit found set then means a loss before the last
// sample (see gap_of()).
void OverflowDetector::schedule_last_read() noexcept
{
    std::int64_t at_ns = INT64_MAX;
    if (overflow_register_ && rate_ > 0 && end_ != kUnknown && latest_.ns != 0) {
        const double left =
            static_cast<double>(end_) - static_cast<double>(latest_.position + ahead_);
        const double left_ns = std::clamp(left / rate_ * 1e9, -1e15, 1e15);
        at_ns = latest_.ns + std::llround(left_ns) -
                (detail::kUsualInterruptLatency + kBeforeEnd + 3 * overflow_register_->access_ns());
    }
    before_end_ns_.store(at_ns, std::memory_order_relaxed);
}

void OverflowDetector::report_unconfirmed(detail::SampleTracker& tracker)
{
    for (; starvation_count_ > 0; remove(0))
        report_gap(tracker, gap_of(starvations_[0]));
}

void OverflowDetector::report_gap(detail::SampleTracker& tracker, const Gap& gap)
{
    if (counter_ != nullptr)
        counter_->add_evidence(gap);
    else
        tracker.gap(gap);
}

void OverflowDetector::remove(std::size_t index)
{
    const auto at = starvations_.begin() + static_cast<std::ptrdiff_t>(index);
    std::move(at + 1, starvations_.begin() + static_cast<std::ptrdiff_t>(starvation_count_), at);
    --starvation_count_;
}

// Returns an upper bound. The rate may have changed since the start, so it is read now, after the
// interval. If the interval is much shorter than the usual interrupt latency, which is included
// anyway, a recent reading of the rate suffices.
std::uint64_t OverflowDetector::samples_in(std::int64_t ns, std::int64_t until_ns) const noexcept
{
    const bool is_short = ns < detail::kUsualInterruptLatency + RateWatch::kFresh / 2;
    const double rate = is_short ? rates_->highest_lately(until_ns) : rates_->highest();
    if (rate <= 0)
        return kUnknown;
    return static_cast<std::uint64_t>(std::ceil(static_cast<double>(ns) * 1e-9 * rate));
}

} // namespace iio_stream::iio
