// SPDX-License-Identifier: MIT
// The engine's hot path: from the source to the workers. No allocation, no lock, no log.
#include "core/engine.hpp"

#include <algorithm>

namespace iio_stream::detail {

namespace {

constexpr std::uint64_t kEnough = std::uint64_t{1} << 62; ///< bytes; more than are ever in flight

// When a block was complete; now, if it has no time on our clock.
std::int64_t complete_ns(const Block& filled)
{
    const Time& time = filled.time();
    return time.clock == Clock::monotonic && time.ns != 0 ? time.ns : sys::monotonic_ns();
}

} // namespace

void Engine::accept(Block filled)
{
    moved_ = true;
    if (const auto news = heard_.news(filled)) {
        add_retuning(retunings_, news->retuning);
        follow_rate(news->retuning);
    }
    follow_clock(filled);
    end_before_gaps(filled);
    const Gap* first = nullptr;
    for (const Gap& gap : filled.gaps()) {
        if (!matters(gap, filled))
            continue;
        counters_.add_gap(gap);
        if (first == nullptr || gap.offset_min < first->offset_min)
            first = &gap;
    }
    if (first == nullptr || config_.on_gap == OnGap::mark)
        return deliveries_.push(std::move(filled));
    if (config_.on_gap == OnGap::zero_fill)
        return deliveries_.push_with_zeros(filled);
    // Stop: samples up to the gap are whole, and the last ones delivered. A loss reported late may
    // lie in what the sinks already have.
    for (const Gap& gap : filled.gaps())
        if (matters(gap, filled) && gap.offset_min < filled.position())
            late_.push_back(gap);
    const std::size_t sample = source_->format().sample_bytes;
    const std::uint64_t samples = filled.bytes() / sample;
    if (first->offset_min > filled.position())
        deliveries_.push(
            filled.slice(0, std::min(first->offset_min - filled.position(), samples), sample));
    end("gap");
}

// If --duration ends within a block, losses after its last sample must not be counted, nor losses
// in the rest of the time. (Zeros take the time of the samples they replace: deliver() counts
// them.)
void Engine::end_before_gaps(const Block& filled)
{
    if (filled.gaps().empty() || end_ns_ == 0 || !rate_ends_it() ||
        config_.on_gap == OnGap::zero_fill)
        return;
    std::uint64_t left = left_of_duration();
    for (const Gap& gap : filled.gaps()) {
        const std::uint64_t at = gap.offset_min - std::min(gap.offset_min, filled.position());
        if (at >= left)
            break;
        left = std::max(at, left - std::min(left, gap.lost_min));
    }
    if (left < filled.bytes() / source_->format().sample_bytes)
        want_no_more_than(left);
}

// After a change of the rate, each block's time says how many samples there are until the end. It may be
// late, so that the most is right, of the blocks that have the new rate for certain.
void Engine::follow_clock(const Block& filled) noexcept
{
    if (!due_ || end_ns_ == 0)
        return;
    const bool zeros = config_.on_gap == OnGap::zero_fill;
    std::uint64_t made = delivered_ + (zeros ? 0 : counters_.lost());
    made += filled.bytes() / source_->format().sample_bytes;
    for (const Gap& gap : filled.gaps())
        made = add_losses(made, gap.lost_min);
    const double left = static_cast<double>(end_ns_ - complete_ns(filled)) * 1e-9 * pace_;
    const auto due =
        static_cast<std::uint64_t>(std::clamp(static_cast<double>(made) + left, 0.0, 0x1p62));
    const bool holds = filled.position() >= paced_from_;
    due_ = due_holds_ && holds ? std::max(*due_, due) : due;
    due_holds_ = holds;
}

// A loss after the last requested sample is not a loss of this stream.
bool Engine::matters(const Gap& gap, const Block& filled) const noexcept
{
    return gap.offset_min < filled.position() ||
           gap.offset_min - filled.position() < wanted_ - delivered_;
}

bool Engine::all_have_room() noexcept
{
    bool room = true;
    for (auto& worker : workers_)
        room = worker->has_room() && room;
    return room;
}

bool Engine::deliver_queued()
{
    bool delivered = false;
    while (!deliveries_.empty() && all_have_room()) {
        auto next = deliveries_.pop(*pool_);
        if (!next)
            break; // zeros wait for a block
        deliver(std::move(*next));
        delivered = moved_ = true;
    }
    return delivered;
}

void Engine::deliver(Block filled)
{
    const std::size_t sample = source_->format().sample_bytes;
    std::uint64_t samples = filled.bytes() / sample;
    if (end_ns_ != 0)
        check_time(complete_ns(filled), samples);
    if (samples >= wanted_ - delivered_) {
        samples = wanted_ - delivered_;
        filled = filled.slice(0, samples, sample);
        source_end_ns_ = complete_ns(filled);
        if (repeats())
            source_ended_ = true;
        else
            end(wanted_by_);
    }
    if (samples == 0)
        return;
    delivered_ += samples;
    if (filled.sequence() != kUnknown)
        counters_.add_block(samples, filled.bytes());
    else // zeros are not the source's
        announce_end();
    for (std::size_t i = 0; i + 1 < order_.size(); ++i)
        order_[i]->give(filled.share());
    order_.back()->give(std::move(filled));
}

void Engine::refill()
{
    const std::size_t sample = source_->format().sample_bytes;
    const std::size_t block = sizing_.block_size;
    want_blocks_ = ended_by_ == nullptr && !source_ended_;
    if (deliveries_.wants_spare() && !deliveries_.take_spare(*pool_))
        return;
    while (want_blocks_) {
        std::size_t bytes = block;
        bool beyond = false;
        if (wanted_ != kUnknown) {
            // The source never has more than pending() blocks in hand.
            const std::uint64_t left = std::min(wanted_ - delivered_, kEnough / sample) * sample;
            const std::uint64_t asked = std::uint64_t{source_->pending()} * block;
            if (left <= asked && beyond_ == 0) {
                want_blocks_ = false;
                return;
            }
            if (left > asked) {
                const std::uint64_t missing = round_up(left - asked, sizing_.unit_bytes);
                bytes = static_cast<std::size_t>(std::min<std::uint64_t>(block, missing));
            }
            beyond = left <= asked;
        }
        auto free = pool_->take();
        if (!free)
            return;
        beyond_ -= beyond ? 1 : 0;
        if (source_->pending() == 0)
            progress_ns_ = std::max(progress_ns_, sys::monotonic_ns());
        source_->submit(std::move(*free), bytes);
    }
}

} // namespace iio_stream::detail
