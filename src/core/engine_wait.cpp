// SPDX-License-Identifier: MIT
// What the engine waits for, and how long.
#include "core/engine.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cmath>
#include <poll.h>
#include <utility>

namespace iio_stream::detail {

namespace {

constexpr std::size_t kMaxWaits = 16;
constexpr int kListenerMs = 20; ///< between two checks for a peer
/// How much later a machine busy with other work may complete the last samples of a --duration.
constexpr std::int64_t kLeastPatience = 250'000'000;
/// Rates that differ by no more are the same: in samples per second, or by the ratio.
constexpr double kSameRate = 1, kSameRatio = 1e-6;
/// A wait that ended so much later than it should: the program was stopped, or the machine was busy with other
/// work, and so may have been what it waited for.
constexpr std::int64_t kLateWakeUp = 50'000'000;

} // namespace

bool Engine::attended()
{
    for (auto& worker : workers_)
        if (!worker->attended())
            return false;
    return true;
}

// Returns earlier if the stream is to end: step() handles that.
void Engine::await_listeners()
{
    while (!attended()) {
        for (auto& worker : workers_) {
            worker->drive(true);
            if (worker->failed())
                return;
        }
        if (stop_requested_.load(std::memory_order_acquire))
            return;
        (void)sys::wait_for(attention_->fd(), POLLIN, sys::after(kListenerMs * 1'000'000));
        attention_->clear();
    }
    held_ = false;
    enable_source();
    begin();
}

void Engine::sleep()
{
    const Wait source = deliveries_.empty() && !repeating_ ? source_->wait() : Wait{};
    source_ready_ = source_ready_ || source.ready;
    if (source_ready_ && deliveries_.empty())
        return;
    // If the source has all blocks, none can come back from a sink.
    const bool some_are_out = source_->pending() < pool_->count();
    const bool wanting =
        (want_blocks_ || deliveries_.wants_spare()) && some_are_out;
    const bool armed = wanting && pool_->arm();
    if (wanting && !armed)
        return;
    std::array<pollfd, kMaxWaits> fds;
    fds[0] = {attention_->fd(), POLLIN, 0};
    fds[1] = {source.fd, source.events, 0};
    fds[2] = {armed ? pool_->fd() : -1, POLLIN, 0};
    std::size_t count = 3;
    for (auto& worker : workers_) {
        const Wait wait = worker->wait();
        if (wait.fd >= 0 && count < fds.size())
            fds[count++] = {wait.fd, wait.events, 0};
    }
    const std::int64_t now = sys::monotonic_ns();
    if (std::exchange(moved_, false))
        progress_ns_ = now;
    // A source that names a time has its block already and waits for something else.
    const bool expecting = source_->pending() != 0 && deliveries_.empty() && source.until_ns == 0 &&
                           !source_ended_;
    const std::int64_t ms = std::clamp<std::int64_t>(
        (wake_time(source, expecting, now) - now + 999'999) / 1'000'000, 0, INT_MAX);
    const int ready = ::poll(fds.data(), count, static_cast<int>(ms));
    if (ready < 0 && errno != EINTR)
        throw Error(Fault::other, errno, "poll", uri_);
    const auto readable = [&](std::size_t i) { return ready > 0 && fds[i].revents != 0; };
    if (armed)
        pool_->disarm(readable(2));
    if (readable(0))
        attention_->clear();
    source_ready_ = source_ready_ || readable(1) ||
                    (source.until_ns != 0 && sys::monotonic_ns() >= source.until_ns);
    sinks_ready_ = ready <= 0; // they check their deadlines then
    for (std::size_t i = 3; i < count; ++i)
        sinks_ready_ = sinks_ready_ || readable(i);
    const std::int64_t late_ns = sys::monotonic_ns() - (now + ms * 1'000'000);
    if (ready == 0 && late_ns > kLateWakeUp) // not part of --timeout, and as long again to catch up
        progress_ns_ = std::min(progress_ns_ + 2 * late_ns, now + ms * 1'000'000 + late_ns);
    if (ready == 0)
        overdue(expecting);
    else if (end_ns_ != 0 && sys::monotonic_ns() >= end_ns_)
        check_time(sys::monotonic_ns()); // a slow trickle never times out, and never fills a block
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

// The stream is over, except for blocks that a sink has no room for and makes none.
void Engine::give_up()
{
    for (const auto& worker : workers_)
        if (!deliveries_.empty() && worker->holds_blocks())
            end_with(worker->overdue());
    deliveries_.clear();
}

// Nothing came within the time that sleep() allowed.
void Engine::overdue(bool expecting)
{
    const std::int64_t now = sys::monotonic_ns();
    if (end_ns_ != 0)
        check_time(now);
    const bool over = ended_by_ != nullptr || source_ended_;
    if (over && now >= progress_ns_ + sizing_.timeout_ns)
        give_up();
    if (!expecting || now < progress_ns_ + sizing_.timeout_ns || ended_by_ != nullptr)
        return;
    try_again(sizing_.timeout_ns, "--timeout changes the deadline; is the device clocked and enabled?");
}

// Whether a device has not delivered anything yet.
bool Engine::is_silent() noexcept
{
    return source_->live() && source_->pending() != 0 && delivered_ == 0 && deliveries_.empty() &&
           !source_ended_;
}

// A source that has begun once more has the whole --duration again.
void Engine::try_again(std::int64_t waited_ns, const char* hint)
{
    if (source_->settle())
        throw Error(Fault::device, ETIMEDOUT, "wait for a block", uri_,
                    "nothing came for " + std::to_string(waited_ns / 1'000'000) + " ms", hint);
    progress_ns_ = sys::monotonic_ns();
    source_ready_ = source_ready_ || source_->wait().ready;
    if (end_ns_ != 0 && is_silent() && !source_ready_)
        end_ns_ = sys::after(config_.duration.count());
}

// Whether --duration is over, with `coming` more samples. A stream with a known rate delivers
// exactly the samples of that time, although its own time began before the stream's, and gets a
// little longer to complete them: they exist, but in a block that is not full yet.
void Engine::check_time(std::int64_t now_ns, std::uint64_t coming)
{
    if (!rate_ends_it()) {
        if (now_ns >= end_ns_)
            end("duration");
        return;
    }
    const std::uint64_t left = left_of_duration();
    if (now_ns < end_ns_ && coming <= left)
        return;
    want_no_more_than(left);
    if (left != 0 && now_ns - end_ns_ < patience_ns())
        return;
    if (left != 0 && coming == 0 && is_silent())
        return try_again(now_ns - progress_ns_, "is the device clocked and enabled?");
    end("duration");
}

// A rate that has become much lower fills no block in the time for which the blocks are made.
std::int64_t Engine::patience_ns() const noexcept
{
    const double block_ns = 1e9 * static_cast<double>(sizing_.block_size) /
                            static_cast<double>(source_->format().sample_bytes) / pace_;
    const auto two = static_cast<std::int64_t>(std::min(2 * block_ns, 0x1p62));
    return std::max(due_ ? std::min(two, sizing_.timeout_ns) : two, kLeastPatience);
}

// Any program may change the rate of a device that streams. What is played from a file or a program states
// rates that count for nothing.
void Engine::follow_rate(const Retuning& retuning) noexcept
{
    const double rate = retuning.settings.rate.value_or(0);
    if (!source_->live() || end_ns_ == 0 || rate <= 0 || pace_ <= 0)
        return;
    if (std::abs(rate - pace_) <= std::max(kSameRate, pace_ * kSameRatio))
        return;
    pace_ = rate;
    due_ = kUnknown;
    paced_from_ = retuning.end;
    due_holds_ = false;
    announce_end();
}

// Whether --duration means a number of samples, not just a time.
bool Engine::rate_ends_it() const noexcept
{
    return pace_ > 0 && !repeating_;
}

// Samples per second: a device's that plays what a file or a program has ready, whatever rate those
// state; otherwise the source's. 0 if unknown.
double Engine::pace() const noexcept
{
    for (std::size_t i = 0; i < workers_.size() && !source_->live(); ++i)
        if (const auto playback = workers_[i]->stats().playback; playback && playback->rate)
            return *playback->rate;
    return source_->format().sample_rate;
}

// In samples, at the stream's pace.
std::uint64_t Engine::left_of_duration() const
{
    const double seconds = static_cast<double>(config_.duration.count()) * 1e-9;
    const double samples = pace_ * seconds + 0.5;
    const std::uint64_t due = due_.value_or(static_cast<std::uint64_t>(std::min(samples, 0x1p63)));
    // Zeros replace lost samples.
    const std::uint64_t lost = counters_.lost();
    const std::uint64_t made = delivered_ + (config_.on_gap == OnGap::zero_fill ? 0 : lost);
    return due - std::min(made, due);
}

void Engine::want_no_more_than(std::uint64_t samples)
{
    if (samples >= wanted_ - delivered_)
        return;
    wanted_ = delivered_ + samples;
    wanted_by_ = "duration";
    announce_end();
}

// Zeros are not the source's samples.
void Engine::announce_end() noexcept
{
    std::uint64_t left = wanted_ == kUnknown ? kUnknown : wanted_ - delivered_;
    if (config_.duration.count() != 0 && rate_ends_it() && !due_)
        left = std::min(left, left_of_duration());
    source_->ends_at(add_losses(counters_.samples(), left));
}

} // namespace iio_stream::detail
