// SPDX-License-Identifier: MIT
// What the engine waits for, and how long.
#include "core/engine.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <poll.h>
#include <utility>

namespace iio_stream::detail {

namespace {

constexpr std::size_t kMaxWaits = 16;
constexpr int kListenerMs = 20; ///< between two checks for a peer
/// A wait that ended so much later than it should: the program was stopped, or the machine was busy
/// with other work, and so may have been what it waited for.
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
    const bool wanting = (want_blocks_ || deliveries_.wants_spare()) && some_are_out;
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
    const bool expecting =
        source_->pending() != 0 && deliveries_.empty() && source.until_ns == 0 && !source_ended_;
    const std::int64_t ms = std::clamp<std::int64_t>(
        (wake_time(source, expecting, now) - now + 999'999) / 1'000'000, 0, INT_MAX);
    const int ready = ::poll(fds.data(), count, static_cast<int>(ms));
    if (ready < 0 && errno != EINTR)
        throw Error(Fault::other, errno, "poll", name_);
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
    else if (limits_.timed() && sys::monotonic_ns() >= limits_.end_ns())
        check_time(sys::monotonic_ns()); // a slow trickle never times out, and never fills a block
}

std::int64_t Engine::wake_time(const Wait& source, bool expecting, std::int64_t now) const
{
    std::int64_t until = now + 500'000'000;
    if (expecting)
        until = std::min(until, progress_ns_ + sizing_.timeout_ns);
    if (limits_.timed())
        until = std::min(until, std::max(limits_.end_ns(), now + 5'000'000));
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

// Whether a sink's board or peer is away: how long that may be is up to the sink.
bool Engine::awaits_peer() const noexcept
{
    return std::ranges::any_of(workers_,
                               [](const auto& worker) { return worker->absences() % 2 != 0; });
}

// Nothing came within the time that sleep() allowed.
void Engine::overdue(bool expecting)
{
    const std::int64_t now = sys::monotonic_ns();
    if (limits_.timed())
        check_time(now);
    const bool over = ended_by_ != nullptr || source_ended_;
    if (over && now >= progress_ns_ + sizing_.timeout_ns && (stop_requested_ || !awaits_peer()))
        give_up();
    if (!expecting || now < progress_ns_ + sizing_.timeout_ns || ended_by_ != nullptr)
        return;
    try_again(sizing_.timeout_ns,
              "--timeout changes the deadline; is the device clocked and enabled?");
}

// Whether a device has not delivered anything yet.
bool Engine::is_silent() noexcept
{
    return source_->live() && source_->pending() != 0 && limits_.delivered() == 0 &&
           deliveries_.empty() && !source_ended_;
}

// A source that has begun once more has the whole --duration again.
void Engine::try_again(std::int64_t waited_ns, const char* hint)
{
    if (source_->settle())
        throw Error(Fault::device, ETIMEDOUT, "wait for a block", name_,
                    "no block arrived within " + std::to_string(waited_ns / 1'000'000) + " ms",
                    hint);
    progress_ns_ = sys::monotonic_ns();
    source_ready_ = source_ready_ || source_->wait().ready;
    if (limits_.timed() && is_silent() && !source_ready_)
        limits_.begin();
}

// Whether --duration is over, with `coming` more samples. A stream with a known rate delivers
// exactly the samples of that time, although its own time began before the stream's, and gets a
// little longer to complete them: they exist, but in a block that is not full yet.
void Engine::check_time(std::int64_t now_ns, std::uint64_t coming)
{
    const std::int64_t late_ns = now_ns - limits_.end_ns();
    if (!limits_.counts_time()) {
        if (late_ns >= 0)
            end("duration");
        return;
    }
    const std::uint64_t left = limits_.left_of_time();
    if (late_ns < 0 && coming <= left)
        return;
    want_no_more_than(left);
    const std::size_t samples = sizing_.block_size / source_->format().sample_bytes;
    if (left != 0 && late_ns < limits_.patience_ns(samples, sizing_.timeout_ns))
        return;
    if (left != 0 && coming == 0 && is_silent())
        return try_again(now_ns - progress_ns_, "is the device clocked and enabled?");
    end("duration");
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

void Engine::want_no_more_than(std::uint64_t samples)
{
    if (limits_.want_no_more_than(samples))
        source_->ends_at(limits_.end_position());
}

} // namespace iio_stream::detail
