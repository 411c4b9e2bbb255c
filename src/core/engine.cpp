// SPDX-License-Identifier: MIT
#include "core/engine.hpp"

#include "core/negotiate.hpp"
#include "sys/machine.hpp"
#include "sys/stream_file.hpp"

#include <algorithm>
#include <cerrno>
#include <ctime>

namespace iio_stream::detail {

namespace {

std::string utc_now()
{
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    ::gmtime_r(&now, &parts);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text;
}

} // namespace

Engine::Engine(const PipelineConfig& config, std::string uri, std::unique_ptr<Source> source,
               std::optional<Memory> memory, std::vector<std::unique_ptr<Lane>> lanes)
    : config_(config), uri_(std::move(uri)), memory_(std::move(memory)),
      source_(std::move(source)), lanes_(std::move(lanes))
{
    sizing_ = size_blocks(config_, source_->format(), source_->needs());
    const std::size_t sample = source_->format().sample_bytes;
    if (config_.bytes % sample != 0)
        fail_usage("--bytes " + std::to_string(config_.bytes) +
                   " is not a whole number of samples of " + std::to_string(sample) + " bytes");
}

Engine::~Engine()
{
    abandon();
}

void Engine::abandon() noexcept
{
    request_stop(Stop::abort);
    join();
    if (ended() || !pool_)
        return;
    source_->stop();
    for (auto& lane : lanes_)
        lane->finish(Stop::abort, 0, -1);
}

// Before each stream. The source thread does not run.
void Engine::reset()
{
    join();
    wanted_ = config_.samples != 0 ? config_.samples : kUnknown;
    wanted_by_ = "samples";
    if (config_.bytes != 0 && config_.bytes / source_->format().sample_bytes < wanted_) {
        wanted_ = config_.bytes / source_->format().sample_bytes;
        wanted_by_ = "bytes";
    }
    delivered_ = 0;
    progress_ns_ = end_ns_ = 0;
    source_ended_ = want_blocks_ = moved_ = source_ready_ = sinks_ready_ = false;
    ended_by_ = nullptr;
    error_.reset();
    attention_->clear();
    abort_.clear();
    stop_requested_ = ended_ = false;
    samples_ = bytes_ = blocks_ = certain_ = possible_ = lost_min_ = lost_max_ = 0;
    start_ns_ = stop_ns_ = 0;
}

void Engine::prepare()
{
    reset();
    std::vector<MemoryChoice> choices = memory_ ? std::vector<MemoryChoice>{{*memory_, ""}}
                                                : memory_choices();
    StreamInfo stream{uri_, source_->format(), source_->tuning(), sizing_.block_bytes,
                      sizing_.timeout_ns};
    // An end may turn out to refuse what it had planned; each round rules out one way more.
    for (std::size_t rounds = 0; rounds < choices.size() + lanes_.size() + 1; ++rounds) {
        Plan plan = negotiate(*source_, uri_, lanes_, sizing_.block_bytes, choices);
        if (config_.on_gap == OnGap::zero_fill)
            plan.cpu = CpuUse::mapped;
        try {
            pool_.emplace(plan.memory, sizing_.block_bytes, sizing_.block_count, plan.cpu);
        } catch (const Error& error) {
            if (memory_)
                throw error.blamed_on(Fault::device);
            for (MemoryChoice& choice : choices)
                if (choice.memory == plan.memory)
                    choice.unavailable = error.what();
            continue;
        }
        std::string why;
        bool accepted = prepare_source(why);
        for (auto& lane : lanes_)
            accepted = accepted && lane->prepare(stream, *pool_, attention_, why);
        if (!accepted) {
            source_->stop();
            continue;
        }
        route_ = std::move(plan.route);
        route_.front().page_bytes = pool_->traits().page_bytes;
        pieces_.reset(2 * kMaxGaps + 2);
        refill();
        return;
    }
    throw Error(Fault::device, ENOTSUP, "stream", uri_, "every way was refused");
}

bool Engine::prepare_source(std::string& why)
{
    try {
        return source_->prepare(*pool_, why);
    } catch (...) {
        throw current_error(source_->fault());
    }
}

void Engine::start_sinks()
{
    for (auto& lane : lanes_)
        lane->start();
}

void Engine::start_source()
{
    started_ = utc_now();
    try {
        source_->start();
    } catch (...) {
        throw current_error(source_->fault());
    }
}

void Engine::launch(Control& control, sys::Event& over)
{
    over_ = &over;
    control_ = &control;
    const std::int64_t now = sys::monotonic_ns();
    start_ns_ = progress_ns_ = now;
    if (config_.duration.count() != 0)
        end_ns_ = sys::after(config_.duration.count());
    cpu_ = sys::cpu_time();
    control.add(*source_);
    thread_ = std::thread([this] { loop(); });
}

void Engine::request_stop(Stop how) noexcept
{
    if (how == Stop::abort)
        abort_.set();
    stop_requested_.store(true, std::memory_order_release);
    attention_->set();
}

void Engine::join()
{
    if (thread_.joinable())
        thread_.join();
}

void Engine::loop()
{
    sys::block_write_signals();
    try {
        while (step())
            ;
    } catch (...) {
        end_with(current_error(source_->fault()));
    }
    finish();
}

bool Engine::step()
{
    bool progressed = false;
    if (source_ready_ && pieces_.empty() && !source_ended_ && ended_by_ == nullptr) {
        Taken taken = source_->take();
        source_ended_ = taken.ended;
        source_ready_ = taken.filled.has_value();
        if (taken.filled)
            accept(std::move(*taken.filled));
        progressed = true;
    }
    progressed = deliver_pieces() || progressed;
    for (auto& lane : lanes_) {
        lane->drive(sinks_ready_);
        if (lane->failed())
            return false; // finish() asks it for the error
    }
    sinks_ready_ = false;
    if (stop_requested_.load(std::memory_order_acquire)) {
        end("signal");
        return false;
    }
    if (ended_by_ != nullptr && pieces_.empty())
        return false;
    if (source_ended_ && pieces_.empty()) {
        end("eof");
        return false;
    }
    refill();
    if (!progressed)
        sleep();
    return true;
}

void Engine::end(const char* why) noexcept
{
    if (ended_by_ == nullptr)
        ended_by_ = why;
}

// Of several errors the one that decides the exit status, in the order of Fault's members.
void Engine::end_with(const Error& error) noexcept
{
    if (!error_ || error.fault() < error_->fault())
        error_ = error;
    ended_by_ = "error";
}

// Runs once, on the source thread, when the loop is over: whatever was given to the sinks reaches
// its place, whatever failed before.
void Engine::finish()
{
    control_->remove(*source_);
    source_->stop();
    for (const Gap& gap : source_->stats().trailing)
        count_gap(gap);
    pieces_.clear();
    spare_.reset();
    const Stop how = abort_.is_set() ? Stop::abort : Stop::drain;
    for (auto& lane : lanes_) {
        lane->finish(how, sizing_.timeout_ns, abort_.fd());
        if (lane->error())
            end_with(*lane->error());
    }
    const CpuTime now = sys::cpu_time();
    cpu_ = {now.user_seconds - cpu_.user_seconds, now.system_seconds - cpu_.system_seconds};
    stop_ns_ = sys::monotonic_ns();
    ended_.store(true, std::memory_order_release);
    over_->set();
}

Stats Engine::stats() const
{
    Stats stats;
    stats.samples = samples_.load(std::memory_order_relaxed);
    stats.bytes = bytes_.load(std::memory_order_relaxed);
    stats.blocks = blocks_.load(std::memory_order_relaxed);
    stats.gaps = {certain_.load(std::memory_order_relaxed),
                  possible_.load(std::memory_order_relaxed),
                  lost_min_.load(std::memory_order_relaxed),
                  lost_max_.load(std::memory_order_relaxed)};
    for (const auto& lane : lanes_)
        stats.sinks.push_back(lane->stats());
    const std::int64_t start = start_ns_, stop = stop_ns_;
    if (start != 0)
        stats.seconds = static_cast<double>((stop != 0 ? stop : sys::monotonic_ns()) - start) * 1e-9;
    return stats;
}

Summary Engine::summary() const
{
    Summary summary;
    summary.started = started_;
    summary.source = uri_;
    summary.route = route_;
    summary.format = source_->format();
    summary.block_bytes = sizing_.block_bytes;
    summary.block_count = sizing_.block_count;
    summary.stats = stats();
    summary.source_stats = source_->stats();
    summary.cpu = cpu_;
    Histogram latency;
    for (const auto& lane : lanes_) {
        summary.sinks.push_back(lane->uri());
        summary.sink_reports.push_back(lane->report());
        latency.add(lane->latency());
    }
    const auto us = [](std::uint64_t ns) { return static_cast<double>(ns) * 1e-3; };
    summary.latency = {us(latency.percentile(0.5)), us(latency.percentile(0.99)),
                       us(latency.percentile(0.999)), us(latency.max())};
    summary.ended = ended_by_ == nullptr ? "error" : ended_by_;
    summary.error = error_;
    return summary;
}

} // namespace iio_stream::detail
