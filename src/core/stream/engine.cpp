// SPDX-License-Identifier: MIT
// Prepares, starts and finishes a stream, and makes its summary. engine_loop.cpp moves the blocks
// in between.
#include "core/stream/engine.hpp"

#include "core/base/text.hpp"
#include "core/stream/negotiate.hpp"
#include "iio_stream/error.hpp"
#include "iio_stream/utc.hpp"
#include "sys/event.hpp"
#include "sys/machine.hpp"
#include "sys/named_thread.hpp"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <new>
#include <utility>

namespace iio_stream::detail {

namespace {

std::string utc_now()
{
    constexpr std::int64_t kSecondNs = 1'000'000'000;
    return format_utc(sys::realtime_ns() / kSecondNs * kSecondNs);
}

// Returns the CPU time that each of the library's threads has used since `start`. Returns an empty
// list if memory runs out, because the end of a stream must not fail.
std::vector<ThreadTime> threads_since(const std::vector<ThreadTime>& start) noexcept
try {
    std::vector<ThreadTime> times = sys::thread_times();
    for (ThreadTime& time : times)
        for (const ThreadTime& before : start)
            if (before.name == time.name)
                time.cpu_seconds = std::max(0.0, time.cpu_seconds - before.cpu_seconds);
    std::erase_if(times, [](const ThreadTime& time) { return time.cpu_seconds <= 0; });
    return times;
} catch (const std::bad_alloc&) {
    return {};
}

} // namespace

Engine::Engine(const PipelineConfig& config, std::unique_ptr<Source> source,
               std::optional<Memory> memory, std::vector<std::unique_ptr<SinkLink>> sinks)
    : config_(config),
      name_(config.source.empty() ? "given" : config.source.text()),
      memory_(std::move(memory)),
      source_(std::move(source)),
      sinks_(std::move(sinks))
{
    Format paced = source_->format();
    // Samples that are repeated need large blocks, not a low latency.
    if (paced.sample_rate <= 0 && !repeats())
        paced.sample_rate = pace();
    sizing_ = size_blocks(config_, paced, source_->needs(), wanted_bytes());
    const std::size_t sample = paced.sample_bytes;
    if (config_.bytes % sample != 0)
        fail_usage("--bytes " + std::to_string(config_.bytes) +
                   " is not a whole number of samples of " + std::to_string(sample) + " bytes");
    if (repeats() && config_.samples + config_.bytes != 0 && config_.duration.count() == 0)
        fail_usage("--samples and --bytes set how much cyclic=on repeats, and never end it",
                   "--duration ends it; to play that number, use loop=on of a file, not cyclic=on");
}

Engine::~Engine()
{
    abandon();
}

void Engine::prepare()
{
    reset();
    std::vector<MemoryChoice> choices =
        memory_ ? std::vector<MemoryChoice>{{*memory_, ""}} : memory_choices();
    if (const auto own = source_->needs().own; own && !memory_)
        choices.push_back({*own, ""});
    StreamInfo stream{config_.source,     source_->format(), {},
                      sizing_.block_size, expected_bytes(),  sizing_.timeout_ns,
                      source_->live()};
    stream.cut = config_.on_gap == OnGap::zero_fill;
    // An endpoint can still refuse its plan in prepare(). Each round rules out one more plan.
    const std::size_t most = (choices.size() + 1) * (sinks_.size() + 1);
    std::string refusal = "everything was refused";
    for (std::size_t rounds = 0; rounds < most; ++rounds) {
        deliveries_.reset(source_->format(), config_.on_gap == OnGap::zero_fill);
        Plan plan = negotiate(*source_, name_, sinks_, sizing_.block_size, choices);
        if (config_.on_gap == OnGap::zero_fill)
            plan.cpu = CpuUse::mapped;
        if (!allocate(plan, choices))
            continue;
        std::vector<std::string> remarks(sinks_.size() + 1);
        bool accepted = prepare_source(remarks.back());
        if (!accepted && !remarks.back().empty())
            refusal = remarks.back();
        const SourceInfo info = source_->info();
        stream.tuning = info.tuning;
        stream.metadata = info.metadata;
        stream.format = source_->format();
        pool_->set_sample_timing(stream.format.sample_bytes, stream.format.sample_rate);
        stream.detects_losses = !source_->live() || !source_->stats().evidence.empty();
        // A file is read ahead while the sinks get ready. A device does not get its blocks yet,
        // because they would be stuck in it if a sink failed, and because sinks test DMABUFs first.
        if (accepted && !source_->live() && !pool_->traits().attachable)
            refill();
        for (std::size_t i = 0; accepted && i < sinks_.size(); ++i) {
            stream.report_event = [events = events_, i](Event event) {
                event.sink = i;
                events->add(std::move(event));
            };
            accepted = sinks_[i]->prepare(stream, *pool_, attention_, remarks[i]);
            if (!accepted && !remarks[i].empty())
                refusal = sinks_[i]->uri() + ": " + remarks[i];
        }
        if (!accepted) {
            source_->stop();
            continue;
        }
        if (!stream.detects_losses)
            counters_.lose_count();
        route_ = std::move(plan.route);
        route_.front().page_bytes = pool_->traits().page_bytes;
        add_clause(route_.front().reason, remarks.back());
        order_.clear();
        last_hops_.clear();
        std::ptrdiff_t readers = 0;
        for (std::size_t i = 0, hop = 1; i < sinks_.size(); ++i, ++hop) {
            while (route_[hop].to != sinks_[i]->uri())
                ++hop;
            add_clause(route_[hop].reason, remarks[i]);
            last_hops_.push_back(hop);
            const bool device = route_[hop].attached && !begins_at_converter(route_[hop]);
            order_.insert(device ? order_.end() : order_.begin() + readers++, sinks_[i].get());
        }
        extra_blocks_ = info.extra_blocks_at_end;
        limits_.set_pace(pace());
        refill();
        return;
    }
    throw Error(Fault::device, ENOTSUP, "stream", name_, refusal);
}

void Engine::cancel_sinks() noexcept
{
    for (auto& sink : sinks_)
        sink->cancel_start();
}

void Engine::start_sinks()
{
    for (auto& sink : sinks_)
        if (!sink->starts_last() || !sink->has_receiver())
            sink->start();
}

void Engine::start_storage()
{
    if (has_receiver() && !has_failed_sink())
        start_last_sinks();
    else
        enter(StreamState::waiting_for_peer);
}

void Engine::start_last_sinks()
{
    for (auto& sink : sinks_)
        if (!sink->started())
            sink->start();
}

void Engine::start_source()
{
    started_ = utc_now();
    if (state() == StreamState::prepared)
        enable_source();
}

void Engine::launch(ControlThread& control, sys::Event& over)
{
    over_ = &over;
    control_ = &control;
    cpu_ = sys::cpu_time();
    threads_ = sys::thread_times();
    if (state() == StreamState::running)
        begin();
    thread_ = std::thread([this] {
        const sys::NamedThread name("iios-source");
        loop();
    });
}

void Engine::request_stop(Stop how, EndReason reason) noexcept
{
    if (how == Stop::abort)
        abort_.set();
    if (!stop_requested_.load(std::memory_order_acquire)) // the first reason counts
        stop_reason_.store(reason, std::memory_order_relaxed);
    stop_requested_.store(true, std::memory_order_release);
    source_->cancel();
    attention_->set();
}

void Engine::join()
{
    if (thread_.joinable())
        thread_.join();
}

void Engine::abandon() noexcept
{
    request_stop(Stop::abort);
    join();
    if (ended() || !pool_)
        return;
    if (SlowCheck* const check = source_->slow_check(); check != nullptr && control_ != nullptr)
        control_->remove(*check);
    source_->stop();
    for (auto& sink : sinks_)
        sink->abandon();
}

bool Engine::repeats() const noexcept
{
    return std::any_of(sinks_.begin(), sinks_.end(),
                       [](const auto& sink) { return sink->repeats(); });
}

Stats Engine::stats() const
{
    Stats stats;
    counters_.fill(stats);
    for (const auto& sink : sinks_)
        stats.sinks.push_back(sink->stats());
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
    std::vector<Event> events = events_->take();
    std::vector<EventWatch::State> now{{source_->link()}};
    for (std::size_t i = 0; i < sinks_.size(); ++i) {
        const SinkStats stats = sinks_[i]->stats();
        now.push_back({sinks_[i]->link(), stats.dropped_samples,
                       stats.playback ? stats.playback->underflows : 0});
    }
    watch_.compare(now, events);
    std::ranges::stable_sort(events, {}, &Event::utc_ns);
    return events;
}

std::vector<std::uint64_t> Engine::free_space_left() const
{
    std::vector<std::uint64_t> room;
    for (const auto& sink : sinks_)
        room.push_back(sink->free_space_left());
    return room;
}

Summary Engine::summary() const
{
    Summary summary;
    summary.started = started_;
    summary.source = name_;
    summary.route = route_;
    summary.format = source_->format();
    summary.live = source_->live();
    if (summary.live) // the settings in a recording are not those of a radio
        summary.tuning = source_->info().tuning;
    summary.block_size = sizing_.block_size;
    summary.block_count = pool_ ? pool_->count() : sizing_.block_count;
    summary.stats = stats();
    summary.source_stats = source_->stats();
    if (start_ns_ != 0 && stop_ns_ != 0)
        summary.closing_seconds = static_cast<double>(stop_ns_ - moved_ns()) * 1e-9;
    summary.retunings = retunings_;
    summary.cpu = cpu_;
    summary.threads = threads_;
    if (ended() && !route_.empty())
        add_clause(summary.route.front().reason, source_->remark());
    Histogram latency;
    for (std::size_t i = 0; i < sinks_.size(); ++i) {
        const SinkResult result = sinks_[i]->result();
        if (ended() && i < last_hops_.size())
            add_clause(summary.route[last_hops_[i]].reason, result.remark);
        summary.sinks.push_back(sinks_[i]->uri());
        summary.sink_reports.push_back(result.report);
        summary.sink_tunings.push_back(result.tuning);
        latency.add(sinks_[i]->latency());
    }
    const auto us = [](std::uint64_t ns) { return static_cast<double>(ns) * 1e-3; };
    summary.latency = {us(latency.percentile(0.5)), us(latency.percentile(0.99)),
                       us(latency.percentile(0.999)), us(latency.max())};
    // A stream that is closed before its start has not failed.
    const EndReason closed = error_ ? EndReason::error : EndReason::signal;
    summary.ended = name_of(end_reason_ != EndReason::none ? end_reason_ : closed);
    summary.error = error_;
    return summary;
}

// Called before each stream, while the source thread is not running.
void Engine::reset()
{
    join();
    const std::uint64_t samples = config_.samples != 0 ? config_.samples : kUnknown;
    const std::uint64_t bytes =
        config_.bytes != 0 ? config_.bytes / source_->format().sample_bytes : kUnknown;
    limits_.reset(std::min(samples, bytes), bytes < samples ? EndReason::bytes : EndReason::samples,
                  config_.duration.count(), config_.on_gap == OnGap::zero_fill);
    known_retunings_ = {};
    retunings_.clear();
    retunings_.reserve(kMostRetunings);
    deadlines_ = Deadlines(sizing_.timeout_ns);
    source_ready_ = sinks_ready_ = false;
    end_reason_ = EndReason::none;
    error_.reset();
    attention_->clear();
    abort_.clear();
    stop_requested_ = false;
    state_ = StreamState::prepared;
    counters_.reset();
    events_->clear();
    watch_.reset();
    start_ns_ = stop_ns_ = source_end_ns_ = 0;
}

void Engine::enter(StreamState next) noexcept
{
    assert(may_follow(state(), next));
    state_.store(next, std::memory_order_release);
}

// Allocates the blocks of a plan. Returns false if the memory is not available, and stores the
// reason in `choices`.
bool Engine::allocate(const Plan& plan, std::vector<MemoryChoice>& choices)
{
    try {
        pool_.emplace(plan.memory, sizing_.block_size, sizing_.block_count, plan.cpu);
        return true;
    } catch (const Error& error) {
        if (memory_)
            throw error.blamed_on(Fault::device);
        for (MemoryChoice& choice : choices)
            if (choice.memory == plan.memory)
                choice.unavailable = error.what();
        return false;
    }
}

bool Engine::prepare_source(std::string& why)
{
    try {
        return source_->prepare(*pool_, why);
    } catch (...) {
        throw current_error(source_->fault());
    }
}

// Returns the number of bytes after which --samples or --bytes ends the stream; kUnknown if neither
// does. With cyclic=on, they set how much is repeated.
std::uint64_t Engine::wanted_bytes() const noexcept
{
    if (repeats())
        return kUnknown;
    const std::uint64_t sample = source_->format().sample_bytes;
    const std::uint64_t bytes = config_.bytes != 0 ? config_.bytes : kUnknown;
    const bool by_samples = config_.samples != 0 && config_.samples <= kUnknown / sample;
    return by_samples ? std::min(bytes, config_.samples * sample) : bytes;
}

// Returns the expected length of the stream in bytes; 0 if it is unknown.
std::uint64_t Engine::expected_bytes() const
{
    const Format& format = source_->format();
    std::uint64_t samples = limits_.wanted();
    if (config_.duration.count() != 0 && format.sample_rate > 0) {
        const double seconds = static_cast<double>(config_.duration.count()) * 1e-9;
        const double most = std::min(seconds * format.sample_rate, 1e18);
        samples = std::min(samples, static_cast<std::uint64_t>(most));
    }
    const bool known = samples != kUnknown && samples <= UINT64_MAX / format.sample_bytes;
    return known ? samples * format.sample_bytes : 0;
}

// Returns the rate of the stream in samples per second; 0 if it is unknown. If a device plays
// samples from a file or a program, it is the rate of the device, whatever rate the file or the
// program states. Otherwise it is the rate of the source.
double Engine::pace() const noexcept
{
    for (std::size_t i = 0; i < sinks_.size() && !source_->live(); ++i)
        if (const auto playback = sinks_[i]->stats().playback; playback && playback->rate)
            return *playback->rate;
    return source_->format().sample_rate;
}

void Engine::enable_source()
{
    source_->ends_at(limits_.end_position());
    try {
        source_->start();
    } catch (...) {
        throw current_error(source_->fault());
    }
    enabled_ns_ = sys::monotonic_ns();
    enter(StreamState::running);
}

// Call right after the source was started.
void Engine::begin()
{
    start_ns_ = enabled_ns_; // on a busy machine, this can be some time ago
    deadlines_.restart(sys::monotonic_ns());
    limits_.begin();
    if (SlowCheck* const check = source_->slow_check())
        control_->add(*check);
}

// Runs once, on the source thread, after the loop. All samples that the sinks were given reach
// their destination, whatever failed before.
void Engine::finish()
{
    if (state() != StreamState::repeating)
        stop_source();
    else
        source_end_ns_ = sys::monotonic_ns(); // includes the time in which samples were repeated
    enter(StreamState::finishing);
    deliveries_.clear();
    const Stop how = abort_.is_set() ? Stop::abort : Stop::drain;
    StreamEnd end = take_end();
    end_by_trailing(end.gaps);
    end.gaps.insert(end.gaps.begin(), late_.begin(), late_.end());
    for (const auto& sink : sinks_)
        if (const Error* failure = sink->failure())
            end_with(*failure); // before other sinks report success to a host or in a file
    for (auto& sink : sinks_)
        try {
            end.error = error_;
            sink->finish(how, {sizing_.timeout_ns, &stop_requested_}, abort_.fd(), end);
            if (sink->failed())
                end_reason_ = EndReason::error;
            if (sink->error())
                end_with(*sink->error());
        } catch (...) {
            end_with_current();
        }
    end_by_underflow(); // an underflow can be detected while the last blocks are played
    const CpuTime now = sys::cpu_time();
    cpu_ = {now.user_seconds - cpu_.user_seconds, now.system_seconds - cpu_.system_seconds};
    threads_ = threads_since(threads_);
    stop_ns_ = sys::monotonic_ns();
    enter(StreamState::ended);
    over_->set();
}

void Engine::stop_source() noexcept
{
    if (source_end_ns_ == 0)
        source_end_ns_ = sys::monotonic_ns();
    if (SlowCheck* const check = source_->slow_check())
        control_->remove(*check);
    source_->stop();
}

// Returns the losses and the retuning that the source found after its last block, and counts them.
StreamEnd Engine::take_end()
{
    StreamEnd end;
    try {
        const SourceStats stats = source_->stats();
        end.gaps = stats.trailing;
        end.retuning = stats.retuning;
        for (const Gap& gap : end.gaps)
            count_loss(gap);
        if (const auto added = known_retunings_.add(end.retuning))
            add_retuning(retunings_, added->retuning);
    } catch (...) {
        end_with_current();
    }
    return end;
}

// A loss found at the very end comes too late to stop the stream there. A possible loss counts, as
// it does in the middle of the stream.
void Engine::end_by_trailing(const std::vector<Gap>& trailing) noexcept
{
    if (config_.on_gap == OnGap::stop &&
        std::any_of(trailing.begin(), trailing.end(),
                    [](const Gap& gap) { return gap.lost_max != 0; }))
        end_by_gap();
}

// Of several errors, keeps the error that decides the exit status: the one whose fault comes first
// in Fault.
void Engine::end_with(const Error& error)
{
    end_reason_ = EndReason::error;
    if (!error_ || error.fault() < error_->fault())
        error_ = error;
}

// Call in a catch block. Works even without free memory: the stream then ends with an error without
// a text.
void Engine::end_with_current() noexcept
{
    end_reason_ = EndReason::error;
    try {
        end_with(current_error(source_->fault()));
    } catch (...) {
    }
}

// The time by which the last sample had reached all sinks.
std::int64_t Engine::moved_ns() const noexcept
{
    std::int64_t moved = source_end_ns_;
    for (const auto& sink : sinks_)
        moved = std::max(moved, sink->finished_ns());
    return moved;
}

} // namespace iio_stream::detail
