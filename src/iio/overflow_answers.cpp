// SPDX-License-Identifier: MIT
// What the overflow register says about the pauses that OverflowDetector suspects.
#include "core/losses.hpp"
#include "iio/overflow_detector.hpp"

#include <algorithm>

namespace iio_stream::iio {

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

// A set bit covers all pauses since it was last read, and the time between them: something was lost
// in one or the other.
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
    if (joint == suspected_)
        return false;
    Suspicion& suspicion = suspicions_[joint];
    const Gap around = gap_of(answer);
    suspicion.begin_ns = std::min(suspicion.begin_ns, answer.since_ns);
    suspicion.first = std::min(suspicion.first, around.offset_min);
    suspicion.until = std::max(suspicion.until, around.offset_max);
    const std::int64_t end_ns = std::max(suspicion.end_ns, answer.read_ns);
    suspicion.made = made_in(end_ns - suspicion.begin_ns + kInterruptLatency, answer.read_ns);
    return true;
}

// Whether a set bit means a loss among the samples that are wanted: it was found before the last of
// them was produced, or before the end of a pause, after which a block came.
bool OverflowDetector::is_before_end(const Answer& answer, const Gap& place) const
{
    if (end_ == kUnknown || place.offset_max < end_)
        return true;
    if (latest_.position <= end_ && answer.read_ns + kInterruptLatency <= incomplete_ns_)
        return true;
    return suspected_ > 0 && answer.read_ns <= suspicions_[suspected_ - 1].end_ns;
}

// The first answer requested after the end of a suspicion decides it; one from its midst can only
// confirm it, and so can any where others clear the bit. A loss after the end is no gap of this
// stream.
void OverflowDetector::hear(Answer answer, detail::SampleTracker& tracker)
{
    if (answer.overflowed) {
        Gap place = gap_of(answer);
        if (!is_before_end(answer, place)) {
            answer.certain = false;
            place.lost_min = 0;
        }
        if (!(answer.certain && confirm(answer)) && place.offset_min < end_)
            tracker.gap(place);
        wiped_ns_ = answer.read_ns;
    }
    // A read that finds the bit set clears it, also for a pause in progress that becomes known only
    // later; so does the first read if the bit was set by idling. A clear bit does not rule out
    // such a pause.
    const std::int64_t idled_ns = idle_sets_ ? primed_ns_.load(std::memory_order_relaxed) : 0;
    const std::int64_t wiped_ns = std::max(wiped_ns_, idled_ns) + kInterruptLatency;
    for (; suspected_ > 0 && suspicions_[0].end_ns <= answer.asked_ns; drop(0))
        if (suspicions_[0].confirmed || suspicions_[0].begin_ns <= wiped_ns || others_clear_)
            tracker.gap(gap_of(suspicions_[0]));
    if (suspected_ == 0)
        wait_until_ns_ = 0;
    settle(answer.asked_ns);
}

// A bit set after this time means a sample produced later than those already complete.
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
    return {s.first, s.until, s.confirmed ? 1U : 0U, s.made,
            s.confirmed ? Evidence::overflow_bit : Evidence::starvation};
}

// No suspicion explains it: it is anywhere between what was complete at the previous read and
// what had been produced when the bit was found set.
Gap OverflowDetector::gap_of(const Answer& answer) const
{
    std::uint64_t first = 0; // remains if the marks do not reach back that far
    Mark last{0, answer.since_ns};
    for (std::size_t i = marked_ > kMarks ? marked_ - kMarks : 0; i < marked_; ++i) {
        const Mark& mark = marks_[i % kMarks];
        if (mark.ns <= answer.since_ns)
            first = mark.position;
        if (mark.ns <= answer.read_ns)
            last = mark;
    }
    const std::uint64_t since =
        made_in(answer.read_ns - last.ns + kInterruptLatency, answer.read_ns);
    const std::uint64_t all =
        made_in(answer.read_ns - answer.since_ns + kInterruptLatency, answer.read_ns);
    return {first, detail::add_losses(last.position + ahead_, since), answer.certain ? 1U : 0U, all,
            Evidence::overflow_bit};
}

} // namespace iio_stream::iio
