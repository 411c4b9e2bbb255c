// SPDX-License-Identifier: MIT
#include "iio/overflow_detector.hpp"

#include "core/losses.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace iio_stream::iio {

namespace {

/// The rate gives the end of a block more exactly than its interrupt, unless that is later than
/// this.
constexpr std::int64_t kLatestInterrupt = 50'000'000;
/// How far the real rate may fall short of the stated one: by one part in this many.
constexpr std::int64_t kRateSlack = 64;
/// A suspicion holds its block back for at most this long.
constexpr std::int64_t kLongestHold = 50'000'000;
/// A register that takes longer to read is behind a slow bus.
constexpr std::int64_t kSlowRegister = 2'000'000;
/// The last read comes within this time after the last block, and what it takes itself.
constexpr double kRunOnSeconds = 0.05;
/// Marks are no closer together than this, on average.
constexpr std::int64_t kMarkEvery = 10'000'000;

} // namespace

void OverflowDetector::reset(std::optional<OverflowRegister> overflow_register, double rate,
                             RateWatch& rates, std::size_t block_samples, std::size_t blocks,
                             bool holds, bool driver_clears)
{
    overflow_register_ = std::move(overflow_register);
    rate_ = rate;
    rates_ = &rates;
    block_ns_ = 0;
    hold_ns_ = kLongestHold;
    if (rate > 0) {
        const double block_ns = static_cast<double>(block_samples) / rate * 1e9;
        block_ns_ = std::llround(std::min(block_ns, 1e15));
        // A block held back is not requeued: a quarter of the queue can be spared.
        const double spare_ns = block_ns * static_cast<double>(blocks) / 4;
        hold_ns_ = std::llround(std::min(spare_ns, static_cast<double>(kLongestHold)));
    }
    ahead_ = holds ? 0 : 2 * block_samples; // what read() has not returned
    put_off_ = overflow_register_ && overflow_register_->access_ns() > kSlowRegister;
    if (!holds || (overflow_register_ && 2 * overflow_register_->access_ns() > hold_ns_))
        hold_ns_ = 0; // its answer would come too late
    suspected_ = marked_ = 0;
    known_ns_ = wiped_ns_ = ended_ns_ = asked_ns_ = wait_until_ns_ = since_ns_ = 0;
    settled_.reset();
    end_ = kUnknown;
    latest_ = {0, 0};
    incomplete_ns_ = 0;
    before_end_ns_ = INT64_MAX;
    primed_ns_ = begun_ns_ = 0;
    idle_sets_ = false;
    driver_clears_ = driver_clears;
    others_clear_ = driver_clears;
    given_ = taken_ = 0;
    suspecting_ = failed_ = vouched_ = blind_ = false;
    asked_.clear();
    answered_.clear();
}

// An upper bound: the rate may have changed since the start, so it is read now, after the interval.
// For a pause much shorter than kInterruptLatency, which is included anyway, a recent reading will
// do.
std::uint64_t OverflowDetector::made_in(std::int64_t ns, std::int64_t until_ns) const noexcept
{
    const bool is_short = ns < kInterruptLatency + RateWatch::kFresh / 2;
    const double rate = is_short ? rates_->highest_lately(until_ns) : rates_->highest();
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
    // With samples arriving steadily, a block that ends later than the rate allows did not end
    // late: its interrupt came late.
    std::int64_t ended = ns;
    if (ended_ns_ != 0 && block_ns_ != 0)
        ended =
            std::clamp(ended_ns_ + block_ns_ + block_ns_ / kRateSlack, ns - kLatestInterrupt, ns);
    ended_ns_ = std::max(ended_ns_, ended);
}

void OverflowDetector::starved(std::int64_t begin_ns, std::int64_t end_ns, std::uint64_t position)
{
    const std::uint64_t made = made_in(end_ns - begin_ns + kInterruptLatency, end_ns);
    const Suspicion suspicion{begin_ns, end_ns, position, detail::add_losses(position, made), made};
    if (suspected_ < kMax)
        suspicions_[suspected_++] = suspicion;
    else
        suspicions_[kMax - 1] = joined(suspicions_[kMax - 1], suspicion);
    if (overflow_register_)
        ask(sys::monotonic_ns());
}

// What the FIFO holds of the first pause may come after the second.
OverflowDetector::Suspicion OverflowDetector::joined(const Suspicion& a, const Suspicion& b)
{
    return {
        std::min(a.begin_ns, b.begin_ns),   std::max(a.end_ns, b.end_ns),
        std::min(a.first, b.first),         std::max(a.until, detail::add_losses(b.until, a.made)),
        detail::add_losses(a.made, b.made), a.confirmed || b.confirmed};
}

void OverflowDetector::ask(std::int64_t now_ns)
{
    // If the queue keeps running empty, not every pause waits for an answer: the control thread
    // then reads the register every kAskEvery, for all suspicions since.
    suspecting_.store(true, std::memory_order_relaxed);
    if (now_ns - asked_ns_ < kAskEvery)
        return;
    asked_ns_ = now_ns;
    wait_until_ns_ = now_ns + hold_ns_;
    asked_.set();
}

void OverflowDetector::completed(std::uint64_t position, std::int64_t ns,
                                 std::int64_t not_before_ns, std::int64_t known_ns)
{
    // The last mark is the last completion: of several at once, the last one.
    const bool another = marked_ < 2 || ns - marks_[(marked_ - 2) % kMarks].ns >= kMarkEvery;
    marked_ += another ? 1 : 0;
    marks_[(marked_ - 1) % kMarks] = {position, ns};
    known_ns_ = std::max(known_ns_, known_ns);
    latest_ = {position, ns};
    incomplete_ns_ = not_before_ns;
    expect_end();
}

void OverflowDetector::ends_at(std::uint64_t position) noexcept
{
    end_ = position;
    expect_end();
}

bool OverflowDetector::settled(detail::SampleTracker& tracker, std::int64_t now_ns)
{
    if (primed_ns_.load(std::memory_order_acquire) == 0) { // there is no register to read
        give_up(tracker);
        return true;
    }
    if (!settled_)
        settle(primed_ns_.load(std::memory_order_relaxed));
    Answer answer;
    while (take_answer(answer))
        hear(answer, tracker);
    tracker.settle(suspected_ == 0 ? *settled_ : std::min(*settled_, suspicions_[0].first));
    if (suspected_ == 0)
        return true;
    if (now_ns < wait_until_ns_)
        return false;
    // A suspicion that got no answer within a second is no longer waited for and stays one.
    while (suspected_ > 0 && suspicions_[0].end_ns + kRoutine.count() < now_ns) {
        tracker.gap(gap_of(suspicions_[0]));
        drop(0);
    }
    return true;
}

std::uint64_t OverflowDetector::run_on() const noexcept
{
    if (!overflow_register_ || rate_ <= 0)
        return 0;
    const double seconds =
        kRunOnSeconds + 2e-9 * static_cast<double>(overflow_register_->access_ns());
    return static_cast<std::uint64_t>(rate_ * seconds) + 1;
}

void OverflowDetector::look_last(detail::SampleTracker& tracker)
{
    if (primed_ns_ == 0)
        return;
    Answer answer;
    while (given_ - taken_ == kMax && take_answer(answer))
        hear(answer, tracker);
    if (given_ - taken_ == kMax)
        failed_ = blind_ = true;
    else
        look();
    vouched_ = !failed_ && !others_clear_;
}

void OverflowDetector::conclude(detail::SampleTracker& tracker)
{
    Answer answer;
    known_ns_ = INT64_MAX;
    end_ = std::min(end_, tracker.position());
    while (primed_ns_ != 0 && take_answer(answer))
        hear(answer, tracker);
    if (primed_ns_ != 0 && blind_) { // lost with its device, and what it would have reported
        const std::int64_t now = sys::monotonic_ns();
        tracker.gap(gap_of(Answer{since_ns_, now, now, true, false}));
    }
    give_up(tracker);
}

bool OverflowDetector::take_answer(Answer& answer)
{
    const std::size_t taken = taken_.load(std::memory_order_relaxed);
    if (taken == given_.load(std::memory_order_acquire))
        return false;
    // An answer from the midst of a pause is kept until the block after the pause reveals the
    // pause; a block held back for it cannot wait for the next.
    if (answers_[taken % kMax].certain && answers_[taken % kMax].asked_ns > known_ns_ &&
        (suspected_ == 0 || hold_ns_ == 0))
        return false;
    answered_.clear();
    answer = answers_[taken % kMax];
    taken_.store(taken + 1, std::memory_order_release);
    return true;
}

} // namespace iio_stream::iio
