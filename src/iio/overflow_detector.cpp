// SPDX-License-Identifier: MIT
#include "iio/overflow_detector.hpp"

#include "iio_stream/error.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace iio_stream::iio {

namespace {

/// A fence is dated by the handler of the interrupt, which may run that much after the event.
constexpr std::int64_t kInterruptLatency = 20'000'000;
/// By the rate a block's end is known better than by its interrupt, if that is not later than this.
constexpr std::int64_t kLatestInterrupt = 50'000'000;
/// How far the real rate may be below the one that the device states: one part in this.
constexpr std::int64_t kRateSlack = 64;
/// A suspicion holds its block back for that long at most, and is not asked for more often.
constexpr std::int64_t kLongestHold = 50'000'000;
constexpr std::int64_t kAskEvery = 100'000'000;
/// A register that takes longer to read is behind a slow bus.
constexpr std::int64_t kSlowRegister = 2'000'000;
/// The register's last look comes within that long after the last block, if not behind a slow bus.
constexpr double kRunOnSeconds = 0.05;
constexpr std::chrono::nanoseconds kRoutine = std::chrono::seconds(1);
/// Completions nearer together than that need no mark of their own.
constexpr std::int64_t kMarkEvery = 10'000'000;

std::uint64_t later(std::uint64_t position, std::uint64_t samples)
{
    return samples == kUnknown ? kUnknown : position + samples;
}

} // namespace

void OverflowDetector::reset(std::optional<OverflowRegister> overflow_register, double rate, RateWatch& rates,
                       std::size_t block_samples, std::size_t blocks, bool holds)
{
    overflow_register_ = std::move(overflow_register);
    rate_ = rate;
    rates_ = &rates;
    block_ns_ = 0;
    hold_ns_ = kLongestHold;
    if (rate > 0) {
        const double block_ns = static_cast<double>(block_samples) / rate * 1e9;
        block_ns_ = std::llround(std::min(block_ns, 1e15));
        // A block that is held back is not queued again: a quarter of the queue can be spared.
        const double spare_ns = block_ns * static_cast<double>(blocks) / 4;
        hold_ns_ = std::llround(std::min(spare_ns, static_cast<double>(kLongestHold)));
    }
    put_off_ = overflow_register_ && overflow_register_->access_ns() > kSlowRegister;
    if (!holds || (overflow_register_ && 2 * overflow_register_->access_ns() > hold_ns_))
        hold_ns_ = 0; // its word would come too late
    suspected_ = marked_ = 0;
    known_ns_ = wiped_ns_ = ended_ns_ = asked_ns_ = wait_until_ns_ = since_ns_ = 0;
    settled_.reset();
    primed_ns_ = 0;
    given_ = taken_ = 0;
    suspecting_ = failed_ = vouched_ = blind_ = false;
    asked_.clear();
    answered_.clear();
}

// At most: the rate may have been changed since the start, so it is read now, when the time is over.
std::uint64_t OverflowDetector::made_in(std::int64_t ns) const noexcept
{
    const double rate = rates_->highest();
    if (rate <= 0)
        return kUnknown;
    return static_cast<std::uint64_t>(std::ceil(static_cast<double>(ns) * 1e-9 * rate));
}

void OverflowDetector::queued(std::int64_t queued_ns, std::int64_t ns, std::uint64_t position)
{
    if (ended_ns_ != 0 && queued_ns > ended_ns_) {
        starved(ended_ns_, queued_ns, position);
        ended_ns_ = ns;
        return;
    }
    // With samples coming steadily, a block that ends later than the rate allows has not ended
    // late: its interrupt came late.
    std::int64_t ended = ns;
    if (ended_ns_ != 0 && block_ns_ != 0)
        ended =
            std::clamp(ended_ns_ + block_ns_ + block_ns_ / kRateSlack, ns - kLatestInterrupt, ns);
    ended_ns_ = std::max(ended_ns_, ended);
}

void OverflowDetector::starved(std::int64_t begin_ns, std::int64_t end_ns, std::uint64_t position)
{
    const std::uint64_t made = made_in(end_ns - begin_ns + kInterruptLatency);
    const Suspicion suspicion{begin_ns, end_ns, position, position, made};
    if (suspected_ < kMax)
        suspicions_[suspected_++] = suspicion;
    else
        suspicions_[kMax - 1] = joined(suspicions_[kMax - 1], suspicion);
    if (overflow_register_)
        ask(sys::monotonic_ns());
}

OverflowDetector::Suspicion OverflowDetector::joined(const Suspicion& a, const Suspicion& b)
{
    const bool unknown = a.made == kUnknown || b.made == kUnknown;
    return {std::min(a.begin_ns, b.begin_ns),     std::max(a.end_ns, b.end_ns),
            std::min(a.first, b.first),           std::max(a.last, b.last),
            unknown ? kUnknown : a.made + b.made, a.confirmed || b.confirmed};
}

void OverflowDetector::ask(std::int64_t now_ns)
{
    // A queue that runs empty all the time is not waited for each time: the control thread looks
    // at the register every kAskEvery then, and speaks of all suspicions since.
    suspecting_.store(true, std::memory_order_relaxed);
    if (now_ns - asked_ns_ < kAskEvery)
        return;
    asked_ns_ = now_ns;
    wait_until_ns_ = now_ns + hold_ns_;
    asked_.set();
}

void OverflowDetector::completed(std::uint64_t position, std::int64_t ns, std::int64_t known_ns)
{
    if (marked_ == 0 || ns - marks_[(marked_ - 1) % kMarks].ns >= kMarkEvery)
        marks_[marked_++ % kMarks] = {position, ns};
    known_ns_ = std::max(known_ns_, known_ns);
}

bool OverflowDetector::settled(detail::SampleTracker& tracker, std::int64_t now_ns)
{
    if (primed_ns_.load(std::memory_order_acquire) == 0) { // there is no register that could tell
        give_up(tracker);
        return true;
    }
    if (!settled_) // what was lost before its first look it cannot tell any more
        settle(primed_ns_.load(std::memory_order_relaxed));
    Answer answer;
    while (take_answer(answer))
        hear(answer, tracker);
    tracker.settle(suspected_ == 0 ? *settled_ : std::min(*settled_, suspicions_[0].first));
    if (suspected_ == 0)
        return true;
    if (now_ns < wait_until_ns_)
        return false;
    // Not waited for (any more): a suspicion that no answer has come for in a second stays one.
    while (suspected_ > 0 && suspicions_[0].end_ns + kRoutine.count() < now_ns) {
        tracker.gap(gap_of(suspicions_[0]));
        drop(0);
    }
    return true;
}

std::uint64_t OverflowDetector::run_on() const noexcept
{
    return overflow_register_ && rate_ > 0 ? static_cast<std::uint64_t>(rate_ * kRunOnSeconds) + 1 : 0;
}

void OverflowDetector::look_last()
{
    if (primed_ns_ == 0)
        return;
    (void)check();
    vouched_ = !failed_;
}

void OverflowDetector::conclude(detail::SampleTracker& tracker, bool running)
{
    // A bit that is set may have been set by what nobody wanted any more, where the device had
    // nothing left to fill. One that is clear clears all.
    Answer answer;
    known_ns_ = INT64_MAX;
    while (primed_ns_ != 0 && take_answer(answer)) {
        const bool meant = suspected_ > 0 && answer.asked_ns <= suspicions_[suspected_ - 1].end_ns;
        if (!answer.overflowed || running || meant) {
            hear(answer, tracker);
            continue;
        }
        Gap gap = gap_of(answer);
        gap.lost_min = 0;
        tracker.gap(gap);
    }
    if (primed_ns_ != 0 && blind_) { // gone with its device, with what it would have told
        const std::int64_t now = sys::monotonic_ns();
        Gap gap = gap_of(Answer{since_ns_, now, now, true});
        gap.lost_min = 0;
        tracker.gap(gap);
    }
    give_up(tracker);
}

void OverflowDetector::give_up(detail::SampleTracker& tracker)
{
    for (; suspected_ > 0; drop(0))
        tracker.gap(gap_of(suspicions_[0]));
}

void OverflowDetector::drop(std::size_t index)
{
    const auto at = suspicions_.begin() + static_cast<std::ptrdiff_t>(index);
    std::move(at + 1, suspicions_.begin() + static_cast<std::ptrdiff_t>(suspected_), at);
    --suspected_;
}

// A bit that is set speaks of all pauses since it was last read: at least one of them lost samples.
bool OverflowDetector::confirm(const Answer& answer)
{
    std::size_t joint = suspected_;
    for (std::size_t i = 0; i < suspected_;) {
        Suspicion& suspicion = suspicions_[i];
        const bool meant = suspicion.begin_ns - kInterruptLatency <= answer.read_ns &&
                           suspicion.end_ns + kInterruptLatency >= answer.since_ns;
        if (meant && joint < i) {
            suspicions_[joint] = joined(suspicions_[joint], suspicion);
            drop(i);
            continue;
        }
        if (meant) {
            suspicion.confirmed = true;
            joint = i;
        }
        ++i;
    }
    return joint < suspected_;
}

// A suspicion is decided by the first answer that was asked for after its end; one that comes in
// its midst can only confirm it.
void OverflowDetector::hear(const Answer& answer, detail::SampleTracker& tracker)
{
    if (answer.overflowed && !confirm(answer))
        tracker.gap(gap_of(answer));
    if (answer.overflowed)
        wiped_ns_ = answer.read_ns;
    // What a look has found set it has cleared, also for a pause that was under way and is known
    // only later; so has the first look. A clear bit does not acquit such a pause.
    const std::int64_t wiped_ns =
        std::max(wiped_ns_, primed_ns_.load(std::memory_order_relaxed)) + kInterruptLatency;
    for (; suspected_ > 0 && suspicions_[0].end_ns <= answer.asked_ns; drop(0))
        if (suspicions_[0].confirmed || suspicions_[0].begin_ns <= wiped_ns)
            tracker.gap(gap_of(suspicions_[0]));
    if (suspected_ == 0)
        wait_until_ns_ = 0;
    settle(answer.asked_ns);
}

// A bit that is set from then on tells of a sample that was made later than those that were
// complete.
void OverflowDetector::settle(std::int64_t looked_ns)
{
    std::uint64_t position = settled_.value_or(0);
    for (std::size_t i = marked_ > kMarks ? marked_ - kMarks : 0; i < marked_; ++i)
        if (const Mark& mark = marks_[i % kMarks]; mark.ns <= looked_ns)
            position = std::max(position, mark.position);
    settled_ = position;
}

Gap OverflowDetector::gap_of(const Suspicion& s)
{
    return {s.first, later(s.last, s.made), s.confirmed ? 1U : 0U, s.made,
            s.confirmed ? Evidence::overflow_bit : Evidence::starvation};
}

// No suspicion explains it: it lies anywhere between what was complete when the register was last
// read and what was made by the time it was found set.
Gap OverflowDetector::gap_of(const Answer& answer) const
{
    std::uint64_t first = 0; // stays so where the marks do not reach back so far
    Mark last{0, answer.since_ns};
    for (std::size_t i = marked_ > kMarks ? marked_ - kMarks : 0; i < marked_; ++i) {
        const Mark& mark = marks_[i % kMarks];
        if (mark.ns <= answer.since_ns)
            first = mark.position;
        if (mark.ns <= answer.read_ns)
            last = mark;
    }
    const std::uint64_t behind = made_in(answer.read_ns - last.ns + kInterruptLatency);
    return {first, later(last.position, behind), 1,
            made_in(answer.read_ns - answer.since_ns + kInterruptLatency), Evidence::overflow_bit};
}

bool OverflowDetector::take_answer(Answer& answer)
{
    const std::size_t taken = taken_.load(std::memory_order_relaxed);
    if (taken == given_.load(std::memory_order_acquire))
        return false;
    // One from the midst of a pause is kept until the block after the pause tells that there was
    // one; a block that is held back for it cannot wait for the next.
    if (answers_[taken % kMax].asked_ns > known_ns_ && (suspected_ == 0 || hold_ns_ == 0))
        return false;
    answered_.clear();
    answer = answers_[taken % kMax];
    taken_.store(taken + 1, std::memory_order_release);
    return true;
}

std::chrono::nanoseconds OverflowDetector::check()
{
    if (!asked_.is_set()) // in turn: what the rate is at times without a loss counts as well
        (void)rates_->highest();
    asked_.clear();
    const std::size_t given = given_.load(std::memory_order_relaxed);
    if (!overflow_register_)
        return kRoutine;
    if (std::exchange(put_off_, false))
        return std::chrono::nanoseconds(0); // not while the stream waits for its start
    const bool suspecting = suspecting_.exchange(false, std::memory_order_relaxed);
    if (given - taken_.load(std::memory_order_acquire) == kMax)
        return std::chrono::nanoseconds(kAskEvery); // nobody listens just now
    const std::int64_t now = sys::monotonic_ns();
    try {
        const bool overflowed = overflow_register_->take(OverflowRegister::Bit::overflow);
        // The first look, right after the start, wipes what happened before it: without a DMA that
        // takes the samples the bit is set all the time.
        if (since_ns_ == 0) {
            primed_ns_.store(sys::monotonic_ns(), std::memory_order_release);
        } else {
            answers_[given % kMax] = {since_ns_, now, sys::monotonic_ns(), overflowed};
            given_.store(given + 1, std::memory_order_release);
            answered_.set();
        }
        since_ns_ = now;
        blind_ = false;
    } catch (const Error&) {
        failed_ = blind_ = true;
        // Gone with its device; what is suspected stays possible.
    }
    return suspecting ? std::chrono::nanoseconds(kAskEvery) : kRoutine;
}

} // namespace iio_stream::iio
