// SPDX-License-Identifier: MIT
#include "support/fake.hpp"

#include "core/format/pattern.hpp"
#include "support/errors.hpp"

#include <gtest/gtest.h>
#include <map>
#include <poll.h>

namespace iio_stream::test {

void FakeSink::Log::let_go(int leases)
{
    allowed += leases;
    news.set();
}

Hop fake_hop()
{
    Hop hop;
    hop.mechanism = "fake";
    hop.cpu = true;
    return hop;
}

std::optional<Hop> FakeSink::plan(const MemoryTraits& traits, std::string& why) const
{
    if (script_.plan)
        return script_.plan(traits, why);
    return fake_hop();
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
    if (log_->allowed > 0) // also for leases that come later
        log_->news.set();
}

Wait FakeSink::wait()
{
    return {script_.keeps && !kept_.empty() ? log_->news.fd() : -1, POLLIN};
}

void FakeSink::stop(Stop how, const StreamEnd& end)
{
    log_->trailing = end.gaps;
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
    EXPECT_TRUE(ended) << "the session does not end";
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
