// SPDX-License-Identifier: MIT
#include "core/engine.hpp"

#include "core/negotiate.hpp"
#include "core/text.hpp"
#include "iio_stream/utc.hpp"
#include "sys/event.hpp"
#include "sys/machine.hpp"
#include "sys/stream_file.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace iio_stream::detail {

namespace {

std::string utc_now()
{
    constexpr std::int64_t kSecondNs = 1'000'000'000;
    return format_utc(sys::realtime_ns() / kSecondNs * kSecondNs);
}

} // namespace

Engine::Engine(const PipelineConfig& config, std::unique_ptr<Source> source,
               std::optional<Memory> memory, std::vector<std::unique_ptr<SinkWorker>> workers)
    : config_(config),
      name_(config.source.empty() ? "given" : config.source.text()),
      memory_(std::move(memory)),
      source_(std::move(source)),
      workers_(std::move(workers))
{
    Format paced = source_->format();
    if (paced.sample_rate <= 0 && !repeats()) // what is repeated needs room, not haste
        paced.sample_rate = pace();
    sizing_ = size_blocks(config_, paced, source_->needs());
    const std::size_t sample = paced.sample_bytes;
    if (config_.bytes % sample != 0)
        fail_usage("--bytes " + std::to_string(config_.bytes) +
                   " is not a whole number of samples of " + std::to_string(sample) + " bytes");
    if (repeats() && config_.samples + config_.bytes != 0 && config_.duration.count() == 0)
        fail_usage("--samples and --bytes choose what cyclic=on repeats, and never end it",
                   "--duration ends it; loop=on of a file, without cyclic=on, plays that number");
}

Engine::~Engine()
{
    abandon();
}

// Called before each stream, while the source thread does not run.
void Engine::reset()
{
    join();
    const std::uint64_t samples = config_.samples != 0 ? config_.samples : kUnknown;
    const std::uint64_t bytes =
        config_.bytes != 0 ? config_.bytes / source_->format().sample_bytes : kUnknown;
    limits_.reset(std::min(samples, bytes), bytes < samples ? "bytes" : "samples",
                  config_.duration.count(), config_.on_gap == OnGap::zero_fill);
    heard_ = {};
    retunings_.clear();
    retunings_.reserve(kMostRetunings);
    progress_ns_ = 0;
    source_ended_ = want_blocks_ = moved_ = source_ready_ = sinks_ready_ = repeating_ = false;
    ended_by_ = nullptr;
    error_.reset();
    attention_->clear();
    abort_.clear();
    stop_requested_ = ended_ = false;
    counters_.reset();
    events_.clear();
    watch_.reset();
    start_ns_ = stop_ns_ = source_end_ns_ = 0;
}

// Allocates the blocks of a plan. False if that memory cannot be had; `choices` then says why.
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

void Engine::prepare()
{
    reset();
    std::vector<MemoryChoice> choices =
        memory_ ? std::vector<MemoryChoice>{{*memory_, ""}} : memory_choices();
    if (const auto own = source_->needs().own; own && !memory_)
        choices.push_back({*own, ""});
    StreamInfo stream{config_.source,   source_->format(),  source_->tuning(), sizing_.block_size,
                      expected_bytes(), sizing_.timeout_ns, source_->live()};
    stream.cut = config_.on_gap == OnGap::zero_fill;
    // An endpoint may turn out to refuse its plan; each round rules out one more way.
    const std::size_t most = (choices.size() + 1) * (workers_.size() + 1);
    for (std::size_t rounds = 0; rounds < most; ++rounds) {
        deliveries_.reset(source_->format().sample_bytes, config_.on_gap == OnGap::zero_fill);
        Plan plan = negotiate(*source_, name_, workers_, sizing_.block_size, choices);
        if (config_.on_gap == OnGap::zero_fill)
            plan.cpu = CpuUse::mapped;
        if (!allocate(plan, choices))
            continue;
        std::vector<std::string> remarks(workers_.size() + 1);
        bool accepted = prepare_source(remarks.back());
        stream.tuning = source_->tuning(); // prepare() has read it again
        stream.format = source_->format();
        // A file is read ahead while the sinks get ready. A device's blocks are not: they would be
        // stuck in it if a sink failed, and sinks try out DMABUFs first.
        if (accepted && !source_->live() && !pool_->traits().attachable)
            refill();
        for (std::size_t i = 0; i < workers_.size(); ++i)
            accepted = accepted && workers_[i]->prepare(stream, *pool_, attention_, remarks[i]);
        if (!accepted) {
            source_->stop();
            continue;
        }
        if (source_->live() && source_->stats().evidence.empty())
            counters_.lose_count();
        route_ = std::move(plan.route);
        route_.front().page_bytes = pool_->traits().page_bytes;
        add_clause(route_.front().reason, remarks.back());
        order_.clear();
        last_hops_.clear();
        std::ptrdiff_t readers = 0;
        for (std::size_t i = 0, hop = 1; i < workers_.size(); ++i, ++hop) {
            while (route_[hop].to != workers_[i]->uri())
                ++hop;
            add_clause(route_[hop].reason, remarks[i]);
            last_hops_.push_back(hop);
            const bool device = route_[hop].attached && !begins_at_stage(route_[hop]);
            order_.insert(device ? order_.end() : order_.begin() + readers++, workers_[i].get());
        }
        beyond_ = source_->beyond();
        limits_.set_pace(pace());
        refill();
        return;
    }
    throw Error(Fault::device, ENOTSUP, "stream", name_, "everything was refused");
}

void Engine::cancel_sinks() noexcept
{
    for (auto& worker : workers_)
        worker->cancel_prepare();
}

// 0 if that is unknown.
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
    for (auto& worker : workers_)
        worker->start();
}

void Engine::start_source()
{
    started_ = utc_now();
    held_ = !attended();
    if (!held_)
        enable_source();
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
}

void Engine::launch(Control& control, sys::Event& over)
{
    over_ = &over;
    control_ = &control;
    cpu_ = sys::cpu_time();
    if (!held_)
        begin();
    thread_ = std::thread([this] { loop(); });
}

// The source has just been started.
void Engine::begin()
{
    start_ns_ = enabled_ns_; // on a busy machine that was a while ago
    progress_ns_ = sys::monotonic_ns();
    limits_.begin();
    control_->add(*source_);
}

void Engine::request_stop(Stop how) noexcept
{
    if (how == Stop::abort)
        abort_.set();
    stop_requested_.store(true, std::memory_order_release);
    source_->cancel();
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
        if (held_)
            await_listeners();
        while (step())
            ;
    } catch (...) {
        end_with_current();
    }
    finish();
}

bool Engine::step()
{
    bool progressed = false;
    if (source_ready_ && deliveries_.empty() && !source_ended_ && ended_by_ == nullptr) {
        Taken taken = source_->take();
        source_ended_ = taken.ended;
        source_ready_ = taken.filled.has_value();
        if (taken.filled)
            accept(std::move(*taken.filled));
        progressed = true;
    }
    progressed = deliver_queued() || progressed;
    for (SinkWorker* worker : order_) {
        worker->drive(sinks_ready_);
        if (worker->failed())
            return false; // finish() asks it for the error
    }
    sinks_ready_ = false;
    end_by_underflow();
    if (stop_requested_.load(std::memory_order_acquire)) {
        end("signal");
        return false;
    }
    if (ended_by_ != nullptr && deliveries_.empty())
        return false;
    if (source_ended_ && deliveries_.empty()) {
        if (!repeats()) {
            end("eof");
            return false;
        }
        repeat();
    }
    const bool wanted_spare = deliveries_.wants_spare();
    refill();
    // A block that just came back is what pending zeros wait for: nothing else would wake us for
    // them.
    const bool zeros_can_go = wanted_spare && !deliveries_.wants_spare() && !deliveries_.empty();
    if (!progressed && !zeros_can_go)
        sleep();
    return true;
}

bool Engine::repeats() const noexcept
{
    return std::any_of(workers_.begin(), workers_.end(),
                       [](const auto& worker) { return worker->repeats(); });
}

} // namespace iio_stream::detail
