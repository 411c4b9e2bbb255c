// SPDX-License-Identifier: MIT
#include "support/fake.hpp"

#include "core/pattern.hpp"
#include "support/errors.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <poll.h>

namespace iio_stream::test {

std::optional<Hop> FakeSource::plan(const MemoryTraits& traits, std::string& why) const
{
    if (script_.plan)
        return script_.plan(traits, why);
    Hop hop;
    hop.mechanism = "fake";
    hop.cpu = true;
    return hop;
}

bool FakeSource::prepare(BlockPool& pool, std::string& why)
{
    ++log_->prepared;
    using Losses = detail::SampleTracker::Losses;
    next_retuning_ = 0;
    tracker_.reset(script_.format_.sample_bytes, script_.untold ? Losses::untold : Losses::told);
    queue_.reset(pool.count());
    sample_ = next_loss_ = 0;
    return !script_.prepare || script_.prepare(pool, why);
}

void FakeSource::start()
{
    if (script_.start)
        script_.start();
    ++log_->started;
    running_ = true;
}

void FakeSource::stop() noexcept
{
    retune(kUnknown);
    ++log_->stopped;
    running_ = false;
    queue_.clear();
}

void FakeSource::submit(EmptyBlock block, std::size_t bytes)
{
    EXPECT_LE(bytes, block.capacity());
    EXPECT_EQ(bytes % script_.format_.sample_bytes, 0u);
    ++log_->submitted;
    log_->submitted_bytes += bytes;
    queue_.push({std::move(block), bytes});
}

// Fills from the device until `out` is full or the device has no more; returns bytes.
std::size_t FakeSource::fill(std::span<std::byte> out)
{
    const std::size_t size = script_.format_.sample_bytes;
    const std::size_t wanted = out.size() / size;
    std::size_t done = 0;
    while (done < wanted && sample_ < script_.total) {
        if (next_loss_ < script_.losses.size() && script_.losses[next_loss_].at <= sample_) {
            const Loss& loss = script_.losses[next_loss_++];
            const std::uint64_t at = tracker_.position() + done;
            tracker_.gap(
                loss.told.value_or(Gap{at, at, loss.samples, loss.samples, Evidence::counter}));
            sample_ += loss.samples;
            continue;
        }
        std::uint64_t left = script_.total - sample_;
        if (next_loss_ < script_.losses.size())
            left = std::min(left, script_.losses[next_loss_].at - sample_);
        const auto run = static_cast<std::size_t>(std::min<std::uint64_t>(wanted - done, left));
        detail::fill_ramp(out.subspan(done * size, run * size), sample_ * size);
        done += run;
        sample_ += run;
    }
    return done * size;
}

Tuning FakeSource::tuning() const
{
    const Settings settings = script_.settings.value_or(Settings{});
    Tuning tuning;
    tuning.frequency = settings.frequency;
    tuning.gain = settings.gain;
    tuning.bandwidth = settings.bandwidth;
    tuning.rate = settings.rate;
    return tuning;
}

// Vouches for the samples before the next retuning that is not reported yet.
void FakeSource::retune(std::uint64_t told)
{
    if (!script_.settings)
        return;
    const auto& all = script_.retunings;
    for (; next_retuning_ < all.size() && all[next_retuning_].told_at <= told; ++next_retuning_) {
        const Retuned& next = all[next_retuning_];
        tracker_.retuned(next.begin, next.end, next.settings);
    }
    tracker_.vouch(next_retuning_ == all.size() ? told
                                                : std::min(told, all[next_retuning_].begin));
}

Taken FakeSource::take()
{
    if (!running_ || queue_.empty() || sample_ >= script_.silent_at)
        return {};
    if (sample_ >= script_.fail_at)
        throw script_.error;
    if (sample_ >= script_.total)
        return {std::nullopt, true};
    Empty empty = queue_.pop();
    std::size_t bytes;
    {
        const CpuWrite out{empty.block};
        bytes = fill(out.bytes().first(empty.bytes));
    }
    if (bytes == 0)
        return {std::nullopt, true};
    retune(tracker_.position() + bytes / script_.format_.sample_bytes);
    Time time{Clock::monotonic, script_.undated ? 0 : sys::monotonic_ns(), {}};
    return {std::move(empty.block).fill(tracker_.next(bytes, time)), sample_ >= script_.total};
}

Wait FakeSource::wait()
{
    Wait wait;
    wait.ready = running_ && !queue_.empty() && sample_ < script_.silent_at;
    return wait;
}

std::chrono::nanoseconds FakeSource::check()
{
    ++log_->checked;
    if (script_.check)
        script_.check();
    return std::chrono::milliseconds(1);
}

void FakeSink::Log::let_go(int leases)
{
    allowed += leases;
    news.set();
}

std::optional<Hop> FakeSink::plan(const MemoryTraits& traits, std::string& why) const
{
    if (script_.plan)
        return script_.plan(traits, why);
    Hop hop;
    hop.mechanism = "fake";
    hop.cpu = true;
    return hop;
}

bool FakeSink::prepare(const StreamInfo& stream, BlockPool& pool, int cancel, std::string& why)
{
    ++log_->prepared;
    sample_bytes_ = stream.format.sample_bytes;
    cancel_ = cancel;
    return !script_.prepare || script_.prepare(pool, why);
}

void FakeSink::start()
{
    ++log_->started;
    if (script_.start)
        script_.start();
}

void FakeSink::submit(Block filled)
{
    const std::uint64_t samples = filled.bytes() / sample_bytes_;
    if (script_.fail_at < log_->samples + samples)
        throw script_.error;
    if (script_.submit)
        script_.submit(filled, cancel_);
    if (script_.records) {
        const CpuRead data{filled};
        log_->bytes.insert(log_->bytes.end(), data.bytes().begin(), data.bytes().end());
        log_->infos.push_back(filled.info());
    }
    log_->samples += samples;
    ++log_->blocks;
    if (script_.keeps)
        kept_.push_back(std::move(filled));
}

void FakeSink::service()
{
    log_->news.clear();
    if (script_.service)
        script_.service();
    for (; !kept_.empty() && log_->allowed > 0; --log_->allowed)
        kept_.pop_front();
    if (log_->allowed > 0) // also for those that come later
        log_->news.set();
}

Wait FakeSink::wait()
{
    return {script_.keeps && !kept_.empty() ? log_->news.fd() : -1, POLLIN};
}

void FakeSink::stop(Stop how)
{
    ++(how == Stop::drain ? log_->drained : log_->aborted);
    if (script_.stop)
        script_.stop(how);
    kept_.clear();
}

namespace {

struct Offers {
    std::map<std::string, std::unique_ptr<Source>> sources;
    std::map<std::string, std::unique_ptr<Sink>> sinks;
    int next = 0;

    Offers()
    {
        register_scheme(
            {"fake",
             [this](Uri& uri) -> std::unique_ptr<Source> {
                 return std::move(sources.at(uri.rest));
             },
             [this](Uri& uri) -> std::unique_ptr<Sink> { return std::move(sinks.at(uri.rest)); }});
    }
    std::string name() { return std::to_string(next++); }
};

Offers& offers()
{
    static Offers the_offers;
    return the_offers;
}

} // namespace

std::string offer(std::unique_ptr<Source> source)
{
    const std::string name = offers().name();
    offers().sources[name] = std::move(source);
    return "fake:" + name;
}

std::string offer(std::unique_ptr<Sink> sink)
{
    const std::string name = offers().name();
    offers().sinks[name] = std::move(sink);
    return "fake:" + name;
}

SourceAt fake_source(FakeSource::Script script)
{
    auto source = std::make_unique<FakeSource>(std::move(script));
    auto log = source->log();
    return {offer(std::move(source)), std::move(log)};
}

SinkAt fake_sink(FakeSink::Script script)
{
    auto sink = std::make_unique<FakeSink>(std::move(script));
    auto log = sink->log();
    return {offer(std::move(sink)), std::move(log)};
}

PipelineConfig config_of(const std::string& source, const std::vector<std::string>& sinks)
{
    PipelineConfig config;
    config.source = source;
    config.sinks.assign(sinks.begin(), sinks.end());
    config.block_size = kBlock;
    config.blocks = 8;
    return config;
}

void run(Session& session)
{
    session.prepare();
    session.start();
    const bool ended = session.wait(std::chrono::seconds(30));
    EXPECT_TRUE(ended) << "the session goes on and on";
    if (!ended)
        session.stop(Stop::abort);
}

Summary run(const PipelineConfig& config)
{
    Session session;
    session.add(config);
    run(session);
    return session[0].summary();
}

Summary write_samples(const std::string& sink, std::uint64_t samples)
{
    return run(config_of(fake_source({.total = samples}).uri, {sink}));
}

Error refused(const std::string& sink, FakeSource::Script script)
{
    Session session;
    return error_of([&] {
        session.add(config_of(fake_source(std::move(script)).uri, {sink}));
        session.prepare();
    });
}

std::vector<std::byte> ramp(std::uint64_t first, std::size_t count, std::size_t sample_bytes)
{
    std::vector<std::byte> bytes(count * sample_bytes);
    detail::fill_ramp(bytes, first * sample_bytes);
    return bytes;
}

std::vector<std::byte> zeros(std::size_t count, std::size_t sample_bytes)
{
    return std::vector<std::byte>(count * sample_bytes);
}

std::vector<std::byte> operator+(std::vector<std::byte> a, const std::vector<std::byte>& b)
{
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

} // namespace iio_stream::test
