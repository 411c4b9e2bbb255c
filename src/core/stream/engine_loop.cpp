// SPDX-License-Identifier: MIT
// The hot path: the loop that moves blocks from the source to the sinks, on the source thread.
// It does not allocate, lock or log. (Exception: EventBuffer stores a loss under a lock.)
#include "core/base/align.hpp"
#include "core/memory/fill_deadline.hpp"
#include "core/stream/engine.hpp"
#include "iio_stream/error.hpp"
#include "sys/event.hpp"
#include "sys/stream_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <poll.h>
#include <utility>

namespace iio_stream::detail {

namespace {

constexpr std::size_t kMaxWaits = 16;
constexpr int kListenerMs = 20;                           ///< between two checks for a peer
constexpr std::uint64_t kEnough = std::uint64_t{1} << 62; ///< bytes; more than are ever in flight

// Returns the time at which a block was complete, even if `filled` is a slice of it. Returns the
// current time if the block has no CLOCK_MONOTONIC time.
std::int64_t complete_ns(const Block& filled)
{
    const Time& time = filled.buffer_time();
    return time.clock == Clock::monotonic && time.ns != 0 ? time.ns : sys::monotonic_ns();
}

} // namespace

void Engine::loop()
{
    sys::block_write_signals();
    try {
        if (state() == StreamState::waiting_for_peer)
            await_listeners();
        while (step())
            ;
        take_rest();
    } catch (...) {
        end_with_current();
        try {
            take_rest();
        } catch (...) { // the first error counts
        }
    }
    finish();
}

// Waits until all sinks have a receiver, then starts the source. Returns early if the stream must
// end, which step() handles.
void Engine::await_listeners()
{
    while (!has_receiver()) {
        for (auto& sink : sinks_)
            sink->drive(true);
        if (has_failed_sink() || stop_requested_.load(std::memory_order_acquire))
            return;
        (void)sys::wait_for(attention_->fd(), POLLIN, sys::after(kListenerMs * 1'000'000));
        attention_->clear();
    }
    if (has_failed_sink()) // because it got no receiver
        return;
    start_last_sinks();
    enable_source();
    begin();
}

bool Engine::has_receiver()
{
    for (auto& sink : sinks_)
        if (!sink->has_receiver())
            return false;
    return true;
}

bool Engine::has_failed_sink() const noexcept
{
    return std::ranges::any_of(sinks_, [](const auto& sink) { return sink->failed(); });
}

bool Engine::step()
{
    const bool took = take();
    const bool delivered = deliver_queued();
    if (!drive_sinks())
        return false; // finish() gets the error from the sink
    end_by_underflow();
    if (stop_requested_.load(std::memory_order_acquire)) {
        end(stop_reason_.load(std::memory_order_relaxed));
        return false;
    }
    if (state() != StreamState::running && deliveries_.empty()) {
        if (end_reason_ != EndReason::none)
            return false;
        if (!repeats()) {
            end(EndReason::eof);
            return false;
        }
        repeat();
    }
    const bool wanted_spare = deliveries_.wants_spare();
    const bool wants_blocks = refill();
    // Pending zeros can use a block that has just come back. Nothing else would wake this thread
    // for them.
    const bool zeros_can_go = wanted_spare && !deliveries_.wants_spare() && !deliveries_.empty();
    if (!took && !delivered && !zeros_can_go)
        sleep(wants_blocks);
    return true;
}

// Takes the next block of the source, if there is one. Returns false if the source was not polled.
bool Engine::take()
{
    if (state() != StreamState::running || !source_ready_ || !deliveries_.empty())
        return false;
    Taken taken = source_->take();
    source_ready_ = taken.filled.has_value();
    if (taken.ended)
        enter(StreamState::source_ended);
    if (taken.filled)
        accept(std::move(*taken.filled));
    return true;
}

// Returns false if a sink has failed.
bool Engine::drive_sinks()
{
    for (SinkLink* sink : order_) {
        sink->drive(sinks_ready_);
        if (sink->failed())
            return false;
    }
    sinks_ready_ = false;
    return true;
}

void Engine::accept(Block filled)
{
    deadlines_.note_move();
    if (const auto added = known_retunings_.add(filled)) {
        add_retuning(retunings_, added->retuning);
        // When the samples of a file or a program are played, the rate that it states is ignored.
        if (source_->live() && limits_.follow_rate(added->retuning))
            source_->ends_at(limits_.end_position());
    }
    limits_.follow_block(filled, source_->format().sample_bytes, complete_ns(filled));
    end_before_gaps(filled);
    const Gap* first = nullptr;
    for (const Gap& gap : filled.gaps())
        if (matters(gap, filled) && (first == nullptr || gap.offset_min < first->offset_min))
            first = &gap;
    // A gap that ends the stream is its last loss, except for losses in samples that the sinks
    // already have.
    const bool stops = first != nullptr && config_.on_gap == OnGap::stop;
    for (const Gap& gap : filled.gaps())
        if (matters(gap, filled) &&
            (!stops || gap.offset_min <= first->offset_min || gap.offset_min < filled.position()))
            count_loss(gap);
    if (first == nullptr || config_.on_gap == OnGap::mark)
        return pass_on(std::move(filled));
    if (config_.on_gap == OnGap::zero_fill)
        return deliveries_.push_with_zeros(filled);
    // On `stop`, the samples before the gap are intact and are the last ones delivered. A loss that
    // is reported late can be in samples that the sinks already have.
    for (const Gap& gap : filled.gaps())
        if (matters(gap, filled) && gap.offset_min < filled.position())
            late_.push_back(gap);
    const std::size_t sample = source_->format().sample_bytes;
    const std::uint64_t samples = filled.bytes() / sample;
    if (first->offset_min > filled.position())
        deliveries_.push(
            filled.slice(0, std::min(first->offset_min - filled.position(), samples), sample));
    end_by_gap();
}

// Gives the block to the sinks at once, unless a sink has no room or other blocks wait for room.
void Engine::pass_on(Block filled)
{
    if (deliveries_.empty() && all_have_room())
        deliver(std::move(filled));
    else
        deliveries_.push(std::move(filled));
}

void Engine::count_loss(const Gap& gap) noexcept
{
    counters_.add_gap(gap);
    events_->add({.kind = EventKind::loss, .gap = gap});
}

// If --duration ends within a block, neither losses after its last sample nor a loss that takes up
// all the remaining time may be counted. (Zeros take the time of the samples that they replace, so
// deliver() counts them.)
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

bool Engine::deliver_queued()
{
    bool delivered = false;
    while (!deliveries_.empty() && all_have_room()) {
        auto next = deliveries_.pop(*pool_);
        if (!next)
            break; // zeros wait for a block
        deliver(std::move(*next));
        deadlines_.note_move();
        delivered = true;
    }
    return delivered;
}

bool Engine::all_have_room() noexcept
{
    bool room = true;
    for (auto& sink : sinks_)
        room = sink->has_room() && room;
    return room;
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
        if (!repeats())
            end(limits_.by());
        else if (state() == StreamState::running)
            enter(StreamState::source_ended);
    }
    if (samples == 0)
        return;
    limits_.deliver(samples);
    if (filled.sequence() != kUnknown)
        counters_.add_block(samples, filled.bytes());
    else // zeros do not come from the source
        source_->ends_at(limits_.end_position());
    for (std::size_t i = 0; i + 1 < order_.size(); ++i)
        order_[i]->give(filled.share());
    order_.back()->give(std::move(filled));
}

// Gives the source all blocks that it may fill. Returns whether the source or the next zeros wait
// for a block to come back.
bool Engine::refill()
{
    const std::size_t sample = source_->format().sample_bytes;
    const std::size_t block = sizing_.block_size;
    if (deliveries_.wants_spare() && !deliveries_.take_spare(*pool_))
        return true;
    while (state() == StreamState::running || state() == StreamState::prepared ||
           state() == StreamState::waiting_for_peer) {
        std::size_t bytes = block;
        bool is_extra = false;
        if (limits_.wanted() != kUnknown) {
            // The blocks that the source already has yield at most pending() * block bytes.
            const std::uint64_t left = std::min(limits_.left(), kEnough / sample) * sample;
            const std::uint64_t asked = std::uint64_t{source_->pending()} * block;
            if (left <= asked && extra_blocks_ == 0)
                return false;
            if (left > asked) {
                const std::uint64_t missing = round_up(left - asked, sizing_.unit_bytes);
                bytes = static_cast<std::size_t>(std::min<std::uint64_t>(block, missing));
            }
            is_extra = left <= asked;
        }
        auto free = pool_->take();
        if (!free)
            return true;
        extra_blocks_ -= is_extra ? 1 : 0;
        if (source_->pending() == 0)
            deadlines_.restart(sys::monotonic_ns());
        source_->submit(std::move(*free), bytes);
    }
    return false;
}

// Call when no more samples come but some sinks continue until they are stopped.
void Engine::repeat()
{
    if (limits_.left() != 0 && limits_.wanted() != kUnknown && limits_.by() != EndReason::duration)
        fail_usage("cyclic=on: " + std::to_string(limits_.wanted()) +
                       " samples should be repeated, but " + name_ + " has only " +
                       std::to_string(limits_.delivered()),
                   "leave the number out to repeat all samples; --duration ends it");
    if (state() == StreamState::source_ended) {
        enter(StreamState::repeating);
        limits_.leave_rate();
        stop_source(); // the sinks need the blocks that the source still has
        deliveries_.clear();
        source_ready_ = false; // otherwise sleep() would return at once
    }
    for (auto& sink : sinks_)
        if (sink->repeats())
            sink->repeat();
    if (limits_.timed())
        check_time(sys::monotonic_ns());
}

// The first reason counts.
void Engine::end(EndReason reason) noexcept
{
    if (end_reason_ == EndReason::none)
        end_reason_ = reason;
    if (state() == StreamState::running)
        enter(StreamState::stopping);
}

// A gap takes precedence over any other reason except an error, because the rest of a stream that
// is ending can have a gap.
void Engine::end_by_gap() noexcept
{
    if (error_)
        return;
    end_reason_ = EndReason::gap;
    end(EndReason::gap);
}

// For --on-gap stop: the samples that a device plays have a gap where its queue ran empty.
void Engine::end_by_underflow() noexcept
{
    if (config_.on_gap != OnGap::stop)
        return;
    for (const auto& sink : sinks_)
        if (const auto playback = sink->stats().playback; playback && playback->underflows != 0)
            end_by_gap();
}

// `wants_blocks`: whether the source or the next zeros wait for a block to come back.
void Engine::sleep(bool wants_blocks)
{
    const bool awaits_source = state() == StreamState::running && deliveries_.empty();
    const Wait source = awaits_source ? source_->wait() : Wait{};
    source_ready_ = source_ready_ || source.ready;
    if (source_ready_ && deliveries_.empty())
        return;
    // If the source has all blocks, none can come back from a sink.
    const bool some_are_out = source_->pending() < pool_->count();
    const bool armed = wants_blocks && some_are_out && pool_->arm();
    if (wants_blocks && some_are_out && !armed)
        return;
    std::array<pollfd, kMaxWaits> fds;
    fds[0] = {attention_->fd(), POLLIN, 0};
    fds[1] = {source.fd, source.events, 0};
    fds[2] = {armed ? pool_->fd() : -1, POLLIN, 0};
    std::size_t count = 3;
    for (auto& sink : sinks_) {
        const Wait wait = sink->wait();
        if (wait.fd >= 0 && count < fds.size())
            fds[count++] = {wait.fd, wait.events, 0};
    }
    const std::int64_t now = sys::monotonic_ns();
    deadlines_.begin_wait(now);
    // A source that sets until_ns already has its block and waits for something else.
    const bool expecting = awaits_source && source_->pending() != 0 && source.until_ns == 0;
    const std::int64_t until = wake_time(source, expecting, now);
    const int ready = ::poll(fds.data(), count, deadlines_.poll_ms(now, until));
    if (ready < 0 && errno != EINTR)
        throw Error(Fault::other, errno, "poll", name_);
    const auto readable = [&](std::size_t i) { return ready > 0 && fds[i].revents != 0; };
    if (armed)
        pool_->disarm(readable(2));
    if (readable(0))
        attention_->clear();
    source_ready_ = source_ready_ || readable(1) ||
                    (source.until_ns != 0 && sys::monotonic_ns() >= source.until_ns);
    sinks_ready_ = ready <= 0; // sinks then check their deadlines
    for (std::size_t i = 3; i < count; ++i)
        sinks_ready_ = sinks_ready_ || readable(i);
    if (ready == 0) {
        deadlines_.end_wait(sys::monotonic_ns());
        overdue(expecting);
    } else if (limits_.timed() && sys::monotonic_ns() >= limits_.end_ns()) {
        check_time(sys::monotonic_ns()); // a slow trickle never times out, and never fills a block
    }
}

std::int64_t Engine::wake_time(const Wait& source, bool expecting, std::int64_t now) const
{
    std::int64_t until = now + 500'000'000;
    if (expecting)
        until = std::min(until, deadlines_.source_ns());
    if (limits_.timed())
        until = std::min(until, std::max(limits_.end_ns(), now + 5'000'000));
    if (source.until_ns != 0)
        until = std::min(until, source.until_ns);
    return until;
}

// Call when nothing has come within the time that sleep() allowed.
void Engine::overdue(bool expecting)
{
    const std::int64_t now = sys::monotonic_ns();
    if (limits_.timed())
        check_time(now);
    std::int64_t timeout_ns = sizing_.timeout_ns;
    for (const auto& sink : sinks_)
        if (sink->holds_blocks())
            timeout_ns = std::max(timeout_ns, sink->finish_timeout_ns(sizing_.timeout_ns));
    if (state() != StreamState::running) {
        if (deadlines_.is_over(now, timeout_ns) && (stop_requested_ || !awaits_peer()))
            give_up();
        return;
    }
    if (expecting && now >= deadlines_.source_ns())
        try_again(sizing_.timeout_ns,
                  "--timeout changes the deadline; is the device clocked and enabled?");
}

// Discards the last blocks of the stream, because a sink has no room for them and makes none.
void Engine::give_up()
{
    for (const auto& sink : sinks_)
        if (!deliveries_.empty() && sink->holds_blocks())
            end_with(sink->overdue());
    deliveries_.clear();
}

// At the end of the stream, takes the samples that the source has received but not handed out. The
// source needs no more blocks, so the sinks may hold all of them.
void Engine::take_rest()
{
    const auto wanted = [this] { return limits_.left() != 0 && end_reason_ != EndReason::gap; };
    const StreamState last = state();
    if (last == StreamState::waiting_for_peer || last == StreamState::repeating ||
        has_failed_sink() || abort_.is_set())
        return;
    for (auto& sink : sinks_)
        sink->lift_limit();
    (void)deliver_queued();
    if (last == StreamState::source_ended || !wanted() || !source_->flush())
        return;
    std::size_t most = source_->pending();
    for (; most > 0 && deliveries_.empty() && wanted();
         --most) { // if a delivery is left, its zeros wait for a block
        Taken taken = source_->take();
        if (!taken.filled)
            return;
        accept(std::move(*taken.filled));
        (void)deliver_queued();
    }
}

// Whether a sink's board or peer is disconnected. The sink decides how long that may last.
bool Engine::awaits_peer() const noexcept
{
    return std::ranges::any_of(sinks_, [](const auto& sink) { return !sink->link().connected; });
}

// Whether a device has not delivered anything yet.
bool Engine::is_silent() noexcept
{
    return source_->live() && source_->pending() != 0 && limits_.delivered() == 0 &&
           deliveries_.empty() && state() == StreamState::running;
}

// A source that has started again gets the whole --duration again.
void Engine::try_again(std::int64_t waited_ns, const char* hint)
{
    const auto chosen =
        config_.timeout.count() != 0 ? std::optional(config_.timeout) : std::nullopt;
    if (source_->on_timeout(chosen))
        throw Error(Fault::device, ETIMEDOUT, "wait for a block", name_,
                    "no block arrived within " + std::to_string(waited_ns / 1'000'000) + " ms",
                    hint);
    deadlines_.restart(sys::monotonic_ns());
    source_ready_ = source_ready_ || source_->wait().ready;
    if (limits_.timed() && is_silent() && !source_ready_)
        limits_.begin();
}

// Ends the stream if --duration is over. `coming` is the number of samples that the caller delivers
// next. A stream with a known rate delivers exactly the number of samples for that time, although
// the source started before the time limit did. It gets a little longer to complete the samples,
// because they exist but are in a block that is not full yet.
void Engine::check_time(std::int64_t now_ns, std::uint64_t coming)
{
    const std::int64_t late_ns = now_ns - limits_.end_ns();
    if (!limits_.counts_time()) {
        if (late_ns >= 0)
            end(EndReason::duration);
        return;
    }
    const std::uint64_t left = limits_.left_of_time();
    if (late_ns < 0 && coming <= left)
        return;
    want_no_more_than(left);
    const std::size_t samples = sizing_.block_size / source_->format().sample_bytes;
    // A source that is not live, such as a pipe, hands out its samples within kLongestFillNs.
    const std::int64_t longest_ns = source_->live() ? INT64_MAX : 2 * kLongestFillNs;
    if (left != 0 &&
        late_ns < std::min(limits_.patience_ns(samples, sizing_.timeout_ns), longest_ns))
        return;
    if (left != 0 && coming == 0 && is_silent())
        return try_again(deadlines_.waited_ns(now_ns), "is the device clocked and enabled?");
    end(EndReason::duration);
}

void Engine::want_no_more_than(std::uint64_t samples)
{
    if (limits_.want_no_more_than(samples))
        source_->ends_at(limits_.end_position());
}

} // namespace iio_stream::detail
