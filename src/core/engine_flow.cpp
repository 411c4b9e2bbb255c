// SPDX-License-Identifier: MIT
// The engine's hot path: from the source to the lanes. No allocation, no lock, no log.
#include "core/engine.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <poll.h>
#include <utility>

namespace iio_stream::detail {

namespace {

constexpr std::size_t kMaxWaits = 16;

std::uint64_t sum(std::uint64_t a, std::uint64_t b)
{
    return a == kUnknown || b == kUnknown ? kUnknown : a + b;
}

} // namespace

void Engine::count_gap(const Gap& gap)
{
    auto& count = gap.certain() ? certain_ : possible_;
    count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    lost_min_.store(lost_min_.load(std::memory_order_relaxed) + gap.lost_min,
                    std::memory_order_relaxed);
    lost_max_.store(sum(lost_max_.load(std::memory_order_relaxed), gap.lost_max),
                    std::memory_order_relaxed);
}

void Engine::accept(Filled filled)
{
    accepted_ = true;
    for (const Gap& gap : filled.gaps())
        count_gap(gap);
    if (filled.gaps().empty() || config_.on_gap == OnGap::mark)
        return pieces_.push({std::move(filled), 0});
    if (config_.on_gap == OnGap::zero_fill)
        return queue_with_zeros(filled);
    // Stop: what lies before the gap is whole, and the last that is delivered.
    const Gap& gap = filled.gaps().front();
    const std::size_t sample = source_->format().sample_bytes;
    const std::uint64_t samples = filled.bytes() / sample;
    if (gap.offset_min > filled.position())
        pieces_.push(
            {filled.slice(0, std::min(gap.offset_min - filled.position(), samples), sample), 0});
    end("gap");
}

// The block in slices, with as many zeros between them as are known to be lost.
void Engine::queue_with_zeros(const Filled& filled)
{
    const std::size_t sample = source_->format().sample_bytes;
    const std::uint64_t samples = filled.bytes() / sample;
    std::uint64_t done = 0;
    for (const Gap& gap : filled.gaps()) {
        const std::uint64_t offset =
            gap.offset_max <= filled.position()
                ? done
                : std::clamp(gap.offset_max - filled.position(), done, samples);
        if (offset != done)
            pieces_.push({filled.slice(done, offset - done, sample), 0});
        if (gap.lost_min != 0)
            pieces_.push({std::nullopt, gap.lost_min});
        done = offset;
    }
    if (done != samples)
        pieces_.push({filled.slice(done, samples - done, sample), 0});
}

bool Engine::all_have_room() noexcept
{
    bool room = true;
    for (auto& lane : lanes_)
        room = lane->has_room() && room;
    return room;
}

bool Engine::deliver_pieces()
{
    bool delivered = false;
    while (!pieces_.empty() && all_have_room()) {
        Piece& next = pieces_.front();
        if (next.filled) {
            Piece piece = pieces_.pop();
            deliver(std::move(*piece.filled));
        } else {
            auto zeros = make_zeros(next.zeros);
            if (!zeros)
                return delivered; // waits for a block
            next.zeros -= zeros->bytes() / source_->format().sample_bytes;
            if (next.zeros == 0)
                (void)pieces_.pop();
            deliver(std::move(*zeros));
        }
        delivered = true;
    }
    return delivered;
}

std::optional<Filled> Engine::make_zeros(std::uint64_t samples)
{
    auto block = pool_->take();
    if (!block)
        return std::nullopt;
    const std::size_t sample = source_->format().sample_bytes;
    BlockInfo info;
    info.bytes = std::min<std::uint64_t>(samples, block->capacity() / sample) * sample;
    info.sequence = kUnknown;
    info.position = delivered_;
    info.sample_index = delivered_;
    info.time = {Clock::monotonic, sys::monotonic_ns(), {}};
    {
        const CpuWrite guard{*block};
        std::memset(guard.bytes().data(), 0, info.bytes);
    }
    return std::move(*block).fill(info);
}

void Engine::deliver(Filled filled)
{
    const std::size_t sample = source_->format().sample_bytes;
    std::uint64_t samples = filled.bytes() / sample;
    if (samples >= wanted_ - delivered_) {
        samples = wanted_ - delivered_;
        filled = filled.slice(0, samples, sample);
        end(wanted_by_);
    }
    if (samples == 0)
        return;
    delivered_ += samples;
    samples_.store(samples_.load(std::memory_order_relaxed) + samples, std::memory_order_relaxed);
    bytes_.store(bytes_.load(std::memory_order_relaxed) + filled.bytes(),
                 std::memory_order_relaxed);
    blocks_.store(blocks_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    if (end_ns_ != 0 && filled.time().ns >= end_ns_)
        check_time(filled.time().ns);
    for (std::size_t i = 0; i + 1 < lanes_.size(); ++i)
        lanes_[i]->give(filled.share());
    lanes_.back()->give(std::move(filled));
}

// The time is up. A source of a known rate is given a little longer to complete the samples of that
// time: they exist, but lie in a block that is not full yet.
void Engine::check_time(std::int64_t now_ns)
{
    const double rate = source_->format().sample_rate;
    const double seconds = static_cast<double>(config_.duration.count()) * 1e-9;
    const auto due = static_cast<std::uint64_t>(rate * seconds + 0.5);
    const std::uint64_t made = delivered_ + lost_min_.load(std::memory_order_relaxed);
    const double slack_ns = rate > 0 ? 2e9 * static_cast<double>(sizing_.block_bytes) /
                                           static_cast<double>(source_->format().sample_bytes) / rate
                                     : 0;
    if (made >= due || now_ns >= end_ns_ + static_cast<std::int64_t>(slack_ns))
        return end("duration");
    if (wanted_ - delivered_ > due - made) {
        wanted_ = delivered_ + (due - made);
        wanted_by_ = "duration";
    }
}

void Engine::refill()
{
    const std::size_t sample = source_->format().sample_bytes;
    const std::size_t block = sizing_.block_bytes;
    want_blocks_ = ended_by_ == nullptr && !source_ended_;
    while (want_blocks_) {
        std::size_t bytes = block;
        if (wanted_ != kUnknown) {
            // More is in the source's hands than pending() blocks at most.
            const std::uint64_t left = (wanted_ - delivered_) * sample;
            const std::uint64_t asked = std::uint64_t{source_->pending()} * block;
            if (left <= asked) {
                want_blocks_ = false;
                return;
            }
            bytes = std::min<std::uint64_t>(block, round_up(left - asked, sizing_.unit_bytes));
        }
        auto free = pool_->take();
        if (!free)
            return;
        if (source_->pending() == 0)
            progress_ns_ = std::max(progress_ns_, sys::monotonic_ns());
        source_->submit(std::move(*free), bytes);
    }
}

void Engine::sleep()
{
    const Wait source = pieces_.empty() ? source_->wait() : Wait{};
    source_ready_ = source_ready_ || source.ready;
    if (source_ready_)
        return;
    // Where the source has all blocks, none can come back from a sink.
    const bool some_are_out = source_->pending() < pool_->count();
    const bool armed = want_blocks_ && some_are_out && pool_->arm();
    if (want_blocks_ && some_are_out && !armed)
        return;
    std::array<pollfd, kMaxWaits> fds;
    fds[0] = {attention_.fd(), POLLIN, 0};
    fds[1] = {source.fd, source.events, 0};
    fds[2] = {armed ? pool_->fd() : -1, POLLIN, 0};
    std::size_t count = 3;
    for (auto& lane : lanes_) {
        const Wait wait = lane->wait();
        if (wait.fd >= 0 && count < fds.size())
            fds[count++] = {wait.fd, wait.events, 0};
    }
    const std::int64_t now = sys::monotonic_ns();
    if (std::exchange(accepted_, false))
        progress_ns_ = now;
    // A source that names a time itself has its block already, and waits for something else.
    const bool expecting = source_->pending() != 0 && pieces_.empty() && source.until_ns == 0;
    const std::int64_t ms = (wake_time(source, expecting, now) - now + 999'999) / 1'000'000;
    const int ready =
        ::poll(fds.data(), count, static_cast<int>(std::clamp<std::int64_t>(ms, 0, INT_MAX)));
    if (ready < 0 && errno != EINTR)
        throw Error(Fault::other, errno, "poll", uri_);
    const auto readable = [&](std::size_t i) { return ready > 0 && fds[i].revents != 0; };
    if (armed)
        pool_->disarm(readable(2));
    if (readable(0))
        attention_.clear();
    source_ready_ =
        readable(1) || (source.until_ns != 0 && sys::monotonic_ns() >= source.until_ns);
    sinks_ready_ = ready <= 0; // they look at their deadlines then
    for (std::size_t i = 3; i < count; ++i)
        sinks_ready_ = sinks_ready_ || readable(i);
    if (ready == 0)
        overdue(expecting);
}

std::int64_t Engine::wake_time(const Wait& source, bool expecting, std::int64_t now) const
{
    std::int64_t until = now + 500'000'000;
    if (expecting)
        until = std::min(until, progress_ns_ + sizing_.timeout_ns);
    if (end_ns_ != 0)
        until = std::min(until, std::max(end_ns_, now + 5'000'000));
    if (source.until_ns != 0)
        until = std::min(until, source.until_ns);
    return until;
}

// Nothing came before the time that sleep() had set.
void Engine::overdue(bool expecting)
{
    const std::int64_t now = sys::monotonic_ns();
    if (end_ns_ != 0 && now >= end_ns_)
        check_time(now);
    if (!expecting || now < progress_ns_ + sizing_.timeout_ns || ended_by_ != nullptr)
        return;
    if (source_->settle())
        throw Error(Fault::device, ETIMEDOUT, "wait for a block", uri_,
                    "nothing came for " + std::to_string(sizing_.timeout_ns / 1'000'000) + " ms",
                    "--timeout changes the deadline; is the device clocked and enabled?");
    progress_ns_ = now;
}

} // namespace iio_stream::detail
