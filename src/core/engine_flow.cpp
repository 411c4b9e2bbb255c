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
        // Files and programs that are played state rates that do not count.
        if (source_->live() && limits_.follow_rate(news->retuning))
            source_->ends_at(limits_.end_position());
    }
    limits_.follow_block(filled, source_->format().sample_bytes, complete_ns(filled));
    end_before_gaps(filled);
    const Gap* first = nullptr;
    for (const Gap& gap : filled.gaps()) {
        if (!matters(gap, filled))
            continue;
        count_loss(gap);
        if (first == nullptr || gap.offset_min < first->offset_min)
            first = &gap;
    }
    if (first == nullptr || config_.on_gap == OnGap::mark)
        return deliveries_.push(std::move(filled));
    if (config_.on_gap == OnGap::zero_fill)
        return deliveries_.push_with_zeros(filled);
    // Stop: samples up to the gap are whole, and the last ones delivered. A loss reported late may
    // be in what the sinks already have.
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

void Engine::count_loss(const Gap& gap) noexcept
{
    counters_.add_gap(gap);
    events_.add({.kind = EventKind::loss, .gap = gap});
}

// If --duration ends within a block, losses after its last sample must not be counted, nor losses
// in the rest of the time. (Zeros take the time of the samples they replace: deliver() counts
// them.)
void Engine::end_before_gaps(const Block& filled)
{
    if (filled.gaps().empty() || !limits_.timed() || !limits_.counts_time() ||
        config_.on_gap == OnGap::zero_fill)
        return;
    std::uint64_t left = limits_.left_of_time();
    for (const Gap& gap : filled.gaps()) {
        const std::uint64_t at = gap.offset_min - std::min(gap.offset_min, filled.position());
        if (at >= left)
            break;
        left = std::max(at, left - std::min(left, gap.lost_min));
    }
    if (left < filled.bytes() / source_->format().sample_bytes)
        want_no_more_than(left);
}

// A loss after the last requested sample is not a loss of this stream.
bool Engine::matters(const Gap& gap, const Block& filled) const noexcept
{
    return gap.offset_min < filled.position() ||
           gap.offset_min - filled.position() < limits_.left();
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
    if (limits_.timed())
        check_time(complete_ns(filled), samples);
    if (samples >= limits_.left()) {
        samples = limits_.left();
        filled = filled.slice(0, samples, sample);
        source_end_ns_ = complete_ns(filled);
        if (repeats())
            source_ended_ = true;
        else
            end(limits_.by());
    }
    if (samples == 0)
        return;
    limits_.deliver(samples);
    if (filled.sequence() != kUnknown)
        counters_.add_block(samples, filled.bytes());
    else // zeros are not the source's
        source_->ends_at(limits_.end_position());
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
        if (limits_.wanted() != kUnknown) {
            // The source never has more than pending() blocks in hand.
            const std::uint64_t left = std::min(limits_.left(), kEnough / sample) * sample;
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
