// SPDX-License-Identifier: MIT
#include "iio/continuity.hpp"

#include "iio_stream/error.hpp"

#include <algorithm>
#include <cmath>

namespace iio_stream::iio {

namespace {

/// A fence is dated by the handler of the interrupt, which may run that much after the event.
constexpr std::int64_t kInterruptLatency = 5'000'000;
/// A suspicion holds its block back for that long at most, and is not asked for more often.
constexpr std::int64_t kHold = 50'000'000;
constexpr std::int64_t kAskEvery = 100'000'000;
constexpr std::chrono::nanoseconds kRoutine = std::chrono::seconds(1);
/// Completions nearer together than that need no mark of their own.
constexpr std::int64_t kMarkEvery = 10'000'000;

std::uint64_t later(std::uint64_t position, std::uint64_t samples)
{
    return samples == kUnknown ? kUnknown : position + samples;
}

} // namespace

void Continuity::reset(std::optional<XflowRegister> xflow, double rate, std::size_t block_samples)
{
    xflow_ = std::move(xflow);
    rate_ = rate;
    block_samples_ = block_samples;
    suspected_ = marked_ = 0;
    last_ns_ = asked_ns_ = wait_until_ns_ = since_ns_ = 0;
    given_ = taken_ = 0;
    primed_ = suspecting_ = false;
    asked_.clear();
    answered_.clear();
}

std::uint64_t Continuity::made_in(std::int64_t ns) const
{
    if (rate_ <= 0)
        return kUnknown;
    return static_cast<std::uint64_t>(std::ceil(static_cast<double>(ns) * 1e-9 * rate_));
}

void Continuity::starved(std::int64_t begin_ns, std::int64_t end_ns, std::uint64_t position)
{
    if (suspected_ < kMax)
        suspicions_[suspected_++] = {begin_ns, end_ns, position};
    else // one for two: the longer time covers both
        suspicions_[kMax - 1].end_ns = end_ns;
    if (xflow_)
        ask(sys::monotonic_ns());
}

void Continuity::ask(std::int64_t now_ns)
{
    // A queue that runs empty all the time is not waited for each time: the control thread looks
    // at the register every kAskEvery then, and speaks of all suspicions since.
    suspecting_.store(true, std::memory_order_relaxed);
    if (now_ns - asked_ns_ < kAskEvery)
        return;
    asked_ns_ = now_ns;
    wait_until_ns_ = now_ns + kHold;
    asked_.set();
}

void Continuity::completed(std::uint64_t position, std::int64_t ns)
{
    if (marked_ == 0 || ns - marks_[(marked_ - 1) % kMarks].ns >= kMarkEvery)
        marks_[marked_++ % kMarks] = {position, ns};
    last_ns_ = std::max(last_ns_, ns);
}

bool Continuity::settled(detail::Witness& witness, std::int64_t now_ns)
{
    if (!primed_.load(std::memory_order_relaxed)) { // there is no register that could tell
        give_up(witness);
        return true;
    }
    Answer answer;
    while (take_answer(answer))
        hear(answer, witness);
    if (suspected_ == 0)
        return true;
    if (now_ns < wait_until_ns_)
        return false;
    // Not waited for (any more): a suspicion that no answer has come for in a second stays one.
    while (suspected_ > 0 && suspicions_[0].end_ns + kRoutine.count() < now_ns) {
        witness.gap(gap_of(suspicions_[0], suspicions_[0].confirmed));
        drop_first();
    }
    return true;
}

void Continuity::conclude(detail::Witness& witness)
{
    // A bit that is set may have been set by what nobody wanted any more: the device went on when
    // the last block had been asked for. One that is clear clears all.
    if (primed_ && suspected_ > 0) {
        (void)check();
        Answer answer;
        last_ns_ = INT64_MAX;
        while (take_answer(answer))
            if (!answer.overflowed || answer.asked_ns <= suspicions_[suspected_ - 1].end_ns)
                hear(answer, witness);
    }
    give_up(witness);
}

void Continuity::give_up(detail::Witness& witness)
{
    for (; suspected_ > 0; drop_first())
        witness.gap(gap_of(suspicions_[0], suspicions_[0].confirmed));
}

void Continuity::drop_first()
{
    std::move(suspicions_.begin() + 1, suspicions_.begin() + static_cast<std::ptrdiff_t>(suspected_),
              suspicions_.begin());
    --suspected_;
}

// A suspicion is decided by the first answer that was asked for after its end; one that comes in
// its midst can only confirm it.
void Continuity::hear(const Answer& answer, detail::Witness& witness)
{
    bool explained = false;
    for (std::size_t i = 0; answer.overflowed && i < suspected_; ++i)
        if (suspicions_[i].begin_ns - kInterruptLatency <= answer.read_ns &&
            suspicions_[i].end_ns + kInterruptLatency >= answer.since_ns) {
            suspicions_[i].confirmed = true;
            explained = true;
        }
    if (answer.overflowed && !explained)
        witness.gap(gap_of(answer));
    for (; suspected_ > 0 && suspicions_[0].end_ns <= answer.asked_ns; drop_first())
        if (suspicions_[0].confirmed)
            witness.gap(gap_of(suspicions_[0], true));
    if (suspected_ == 0)
        wait_until_ns_ = 0;
}

Gap Continuity::gap_of(const Suspicion& suspicion, bool certain) const
{
    const std::uint64_t made =
        made_in(suspicion.end_ns - suspicion.begin_ns + kInterruptLatency);
    return {suspicion.position, later(suspicion.position, made), certain ? 1U : 0U, made,
            certain ? Evidence::overflow_bit : Evidence::starvation};
}

// No suspicion explains it: it lies anywhere between what was complete when the register was last
// read and what was made by the time it was found set.
Gap Continuity::gap_of(const Answer& answer) const
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
            made_in(answer.read_ns - answer.since_ns + kInterruptLatency),
            Evidence::overflow_bit};
}

bool Continuity::take_answer(Answer& answer)
{
    const std::size_t taken = taken_.load(std::memory_order_relaxed);
    if (taken == given_.load(std::memory_order_acquire))
        return false;
    // One from the midst of a pause is kept until the block after the pause tells that there was one.
    if (answers_[taken % kMax].asked_ns > last_ns_ && suspected_ == 0)
        return false;
    answered_.clear();
    answer = answers_[taken % kMax];
    taken_.store(taken + 1, std::memory_order_release);
    return true;
}

std::chrono::nanoseconds Continuity::check()
{
    asked_.clear();
    const std::size_t given = given_.load(std::memory_order_relaxed);
    if (!xflow_)
        return kRoutine;
    const bool suspecting = suspecting_.exchange(false, std::memory_order_relaxed);
    if (given - taken_.load(std::memory_order_acquire) == kMax)
        return std::chrono::nanoseconds(kAskEvery); // nobody listens just now
    const std::int64_t now = sys::monotonic_ns();
    try {
        const bool overflowed = xflow_->take(XflowRegister::Bit::overflow);
        // The first look, right after the start, wipes what happened before it: without a DMA that
        // takes the samples the bit is set all the time.
        if (since_ns_ == 0) {
            primed_.store(true, std::memory_order_relaxed);
        } else {
            answers_[given % kMax] = {since_ns_, now, sys::monotonic_ns(), overflowed};
            given_.store(given + 1, std::memory_order_release);
            answered_.set();
        }
        since_ns_ = now;
    } catch (const Error&) {
        // Gone with its device; what is suspected stays possible.
    }
    return suspecting ? std::chrono::nanoseconds(kAskEvery) : kRoutine;
}

} // namespace iio_stream::iio
