// SPDX-License-Identifier: MIT
// The end of a stream: its errors, closing, and the final summary.
#include "core/engine.hpp"
#include "core/text.hpp"
#include "iio_stream/error.hpp"
#include "sys/machine.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace iio_stream::detail {

void Engine::end(const char* why) noexcept
{
    if (ended_by_ == nullptr)
        ended_by_ = why;
}

// No more samples come, but some sinks go on until they are stopped.
void Engine::repeat()
{
    if (limits_.left() != 0 && limits_.wanted() != kUnknown &&
        std::string_view(limits_.by()) != "duration")
        fail_usage("cyclic=on: " + std::to_string(limits_.wanted()) +
                       " samples are to be repeated, and " + name_ + " has only " +
                       std::to_string(limits_.delivered()),
                   "without a number all are repeated; --duration ends it");
    if (!std::exchange(repeating_, true)) {
        limits_.leave_rate();
        stop_source(); // the sinks need the blocks it still has
        deliveries_.clear();
        source_ready_ = false; // otherwise sleep() would return at once
    }
    for (auto& worker : workers_)
        if (worker->repeats())
            worker->repeat();
    if (limits_.timed())
        check_time(sys::monotonic_ns());
}

// Of several errors, keeps the one that decides the exit status, in the order of Fault's members.
void Engine::end_with(const Error& error)
{
    ended_by_ = "error";
    if (!error_ || error.fault() < error_->fault())
        error_ = error;
}

// Call in a catch block. Works without memory, too: there is an error even if its text is lost.
void Engine::end_with_current() noexcept
{
    ended_by_ = "error";
    try {
        end_with(current_error(source_->fault()));
    } catch (...) {
    }
}

// What the source found after its last block, counted.
Trailing Engine::take_trailing()
{
    Trailing trailing;
    try {
        const SourceStats stats = source_->stats();
        trailing = {stats.trailing, stats.retuning};
        for (const Gap& gap : trailing.gaps)
            count_loss(gap);
        if (const auto news = heard_.news(trailing.retuning))
            add_retuning(retunings_, news->retuning);
    } catch (...) {
        end_with_current();
    }
    return trailing;
}

// A loss found at the very end came too late to stop the stream there. As mid-stream, a possible
// one counts.
void Engine::end_by_trailing(const std::vector<Gap>& trailing) noexcept
{
    if (config_.on_gap == OnGap::stop && !error_ &&
        std::any_of(trailing.begin(), trailing.end(),
                    [](const Gap& gap) { return gap.lost_max != 0; }))
        ended_by_ = "gap";
}

// For --on-gap stop: what a device plays has a gap where it ran empty.
void Engine::end_by_underflow() noexcept
{
    if (config_.on_gap != OnGap::stop || error_)
        return;
    for (const auto& worker : workers_)
        if (const auto playback = worker->stats().playback; playback && playback->underflows != 0)
            ended_by_ = "gap";
}

void Engine::stop_source() noexcept
{
    if (source_end_ns_ == 0)
        source_end_ns_ = sys::monotonic_ns();
    control_->remove(*source_);
    source_->stop();
}

// Runs once, on the source thread, after the loop: everything the sinks were given reaches its
// destination, whatever failed before.
void Engine::finish()
{
    if (!repeating_)
        stop_source();
    else
        source_end_ns_ = sys::monotonic_ns(); // includes samples that are repeated
    deliveries_.clear();
    const Stop how = abort_.is_set() ? Stop::abort : Stop::drain;
    Trailing trailing = take_trailing();
    end_by_trailing(trailing.gaps);
    trailing.gaps.insert(trailing.gaps.begin(), late_.begin(), late_.end());
    for (const auto& worker : workers_)
        if (const Error* failure = worker->failure())
            end_with(*failure); // before others report success to a host or a file
    for (auto& worker : workers_)
        try {
            worker->finish(how, {sizing_.timeout_ns, &stop_requested_}, abort_.fd(), trailing,
                           error_);
            if (worker->failed())
                ended_by_ = "error";
            if (worker->error())
                end_with(*worker->error());
        } catch (...) {
            end_with_current();
        }
    end_by_underflow(); // found while the last blocks were played
    const CpuTime now = sys::cpu_time();
    cpu_ = {now.user_seconds - cpu_.user_seconds, now.system_seconds - cpu_.system_seconds};
    stop_ns_ = sys::monotonic_ns();
    ended_.store(true, std::memory_order_release);
    over_->set();
}

Stats Engine::stats() const
{
    Stats stats;
    counters_.fill(stats);
    for (const auto& worker : workers_)
        stats.sinks.push_back(worker->stats());
    const std::int64_t start = start_ns_, source_end = source_end_ns_;
    if (start == 0)
        return stats;
    const std::int64_t moved = stop_ns_ != 0 ? moved_ns() : sys::monotonic_ns();
    stats.seconds = static_cast<double>(moved - start) * 1e-9;
    stats.source_seconds =
        source_end != 0 ? static_cast<double>(source_end - start) * 1e-9 : stats.seconds;
    return stats;
}

std::vector<Event> Engine::take_events()
{
    std::vector<Event> events = events_.take();
    std::vector<EventWatch::State> now{{source_->absences()}};
    for (std::size_t i = 0; i < workers_.size(); ++i) {
        const SinkStats stats = workers_[i]->stats();
        now.push_back({workers_[i]->absences(), stats.dropped_samples,
                       stats.playback ? stats.playback->underflows : 0});
        for (Event& event : workers_[i]->take_events()) {
            event.sink = i;
            events.push_back(std::move(event));
        }
    }
    watch_.compare(now, events);
    std::ranges::stable_sort(events, {}, &Event::utc_ns);
    return events;
}

// When the last sample had reached its sinks.
std::int64_t Engine::moved_ns() const noexcept
{
    std::int64_t moved = source_end_ns_;
    for (const auto& worker : workers_)
        moved = std::max(moved, worker->finished_ns());
    return moved;
}

std::vector<std::uint64_t> Engine::room() const
{
    std::vector<std::uint64_t> room;
    for (const auto& worker : workers_)
        room.push_back(worker->room());
    return room;
}

Summary Engine::summary() const
{
    Summary summary;
    summary.started = started_;
    summary.source = name_;
    summary.route = route_;
    summary.format = source_->format();
    summary.block_size = sizing_.block_size;
    summary.block_count = pool_ ? pool_->count() : sizing_.block_count;
    summary.stats = stats();
    summary.source_stats = source_->stats();
    if (start_ns_ != 0 && stop_ns_ != 0)
        summary.closing_seconds = static_cast<double>(stop_ns_ - moved_ns()) * 1e-9;
    summary.retunings = retunings_;
    summary.cpu = cpu_;
    if (ended() && !route_.empty())
        add_clause(summary.route.front().reason, source_->remark());
    for (std::size_t i = 0; ended() && i < last_hops_.size(); ++i)
        add_clause(summary.route[last_hops_[i]].reason, workers_[i]->remark());
    Histogram latency;
    for (const auto& worker : workers_) {
        summary.sinks.push_back(worker->uri());
        summary.sink_reports.push_back(worker->report());
        latency.add(worker->latency());
    }
    const auto us = [](std::uint64_t ns) { return static_cast<double>(ns) * 1e-3; };
    summary.latency = {us(latency.percentile(0.5)), us(latency.percentile(0.99)),
                       us(latency.percentile(0.999)), us(latency.max())};
    summary.ended = ended_by_ == nullptr ? "error" : ended_by_;
    summary.error = error_;
    return summary;
}

void Engine::abandon() noexcept
{
    request_stop(Stop::abort);
    join();
    if (ended() || !pool_)
        return;
    if (control_ != nullptr)
        control_->remove(*source_);
    source_->stop();
    for (auto& worker : workers_)
        worker->abandon();
}

} // namespace iio_stream::detail
