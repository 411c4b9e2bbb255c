// SPDX-License-Identifier: MIT
// The end of a stream: by limits, by deadlines and by the end of its source.
#include "iio_stream/session.hpp"
#include "support/errors.hpp"
#include "support/eventually.hpp"
#include "support/fake.hpp"

#include <gtest/gtest.h>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;
using namespace std::chrono_literals;

TEST(Limits, TheEndOfTheSourceEndsTheStream)
{
    const SourceAt source = fake_source({.total = 10'000});
    const SinkAt sink = fake_sink();
    const Summary summary = run(config_of(source.uri, {sink.uri}));
    EXPECT_EQ(summary.ended, "eof");
    EXPECT_FALSE(summary.error);
    EXPECT_EQ(fault_of(summary), std::nullopt);
    EXPECT_EQ(summary.stats.samples, 10'000u);
    EXPECT_EQ(summary.stats.bytes, 40'000u);
    EXPECT_EQ(summary.stats.blocks, 10u);
    EXPECT_EQ(summary.produced_samples(), 10'000u);
    EXPECT_EQ(sink.log->bytes, ramp(0, 10'000));
    EXPECT_EQ(sink.log->drained, 1);
    EXPECT_EQ(source.log->stopped, 1);
    EXPECT_EQ(summary.stats.sinks[0].delivered_samples, 10'000u);
    EXPECT_EQ(summary.stats.sinks[0].bytes, 40'000u);
}

TEST(Limits, ASourceWithoutSamplesEndsAtOnce)
{
    const SinkAt sink = fake_sink({.may_block = true});
    const Summary summary = run(config_of(fake_source({.total = 0}).uri, {sink.uri}));
    EXPECT_EQ(summary.ended, "eof");
    EXPECT_EQ(summary.stats.blocks, 0u);
    EXPECT_EQ(sink.log->drained, 1);
}

TEST(Limits, BlocksCanBeOfOneSample)
{
    for (const bool may_block : {false, true}) {
        const SinkAt sink = fake_sink({.may_block = may_block});
        PipelineConfig config = config_of(fake_source({.total = 3000}).uri, {sink.uri});
        config.block_size = 4;
        config.blocks = 2;
        const Summary summary = run(config);
        EXPECT_EQ(summary.stats.blocks, 3000u);
        EXPECT_EQ(sink.log->bytes, ramp(0, 3000));
    }
}

TEST(Limits, ALimitOfSamplesIsExact)
{
    for (const std::uint64_t limit : {1u, 2u, 1023u, 1024u, 1025u, 5000u, 8192u, 100'001u}) {
        const SourceAt source = fake_source({});
        const SinkAt sink = fake_sink();
        PipelineConfig config = config_of(source.uri, {sink.uri});
        config.samples = limit;
        const Summary summary = run(config);
        EXPECT_EQ(summary.ended, "samples");
        EXPECT_EQ(fault_of(summary), std::nullopt);
        EXPECT_EQ(summary.stats.samples, limit);
        EXPECT_EQ(sink.log->bytes, ramp(0, limit));
        // No more samples than needed are requested from the device.
        EXPECT_LT(source.log->submitted_bytes, limit * 4 + kBlock) << limit;
    }
}

TEST(Limits, ALimitOfBytesMustBeAWholeNumberOfSamples)
{
    const SinkAt sink = fake_sink();
    PipelineConfig config = config_of(fake_source({}).uri, {sink.uri});
    config.bytes = 10'004;
    const Summary summary = run(config);
    EXPECT_EQ(summary.ended, "bytes");
    EXPECT_EQ(summary.stats.bytes, 10'004u);
    EXPECT_EQ(sink.log->bytes, ramp(0, 2501));
    config = config_of(fake_source({}).uri, {fake_sink().uri});
    config.bytes = 10'002;
    Session session;
    expect_usage_error([&] { session.add(config); }, "10002", "samples of 4 bytes");
}

TEST(Limits, TheSmallerOfTwoLimitsEndsTheStream)
{
    PipelineConfig config = config_of(fake_source({}).uri, {fake_sink().uri});
    config.samples = 1000;
    config.bytes = 8000;
    EXPECT_EQ(run(config).ended, "samples");
    config.source = fake_source({}).uri;
    config.sinks = {fake_sink().uri};
    config.bytes = 2000;
    const Summary summary = run(config);
    EXPECT_EQ(summary.ended, "bytes");
    EXPECT_EQ(summary.stats.samples, 500u);
}

TEST(Limits, ALimitLargerThanAllMemoryHasNoEffect)
{
    const SinkAt sink = fake_sink();
    PipelineConfig config = config_of(fake_source({.total = 10'000}).uri, {sink.uri});
    config.samples = std::uint64_t{1} << 62; // four times this number of bytes wraps around to 0
    const Summary summary = run(config);
    EXPECT_EQ(summary.ended, "eof");
    EXPECT_EQ(sink.log->bytes, ramp(0, 10'000));
}

TEST(Limits, ADeviceWithoutABlockBeforeTheDeadlineTimesOut)
{
    const SinkAt sink = fake_sink();
    PipelineConfig config = config_of(fake_source({.silent_at = 2048}).uri, {sink.uri});
    config.timeout = 50ms;
    const Summary summary = run(config);
    EXPECT_EQ(summary.ended, "error");
    EXPECT_EQ(fault_of(summary), Fault::device);
    EXPECT_EQ(summary.error->code().value(), ETIMEDOUT);
    EXPECT_NE(std::string(summary.error->what()).find("50 ms"), std::string::npos);
    EXPECT_EQ(sink.log->bytes, ramp(0, 2048)); // the samples that arrived are kept
    EXPECT_EQ(sink.log->drained, 1);
}

TEST(Limits, BlocksWithoutATimeAreNotMistakenForLateBlocks)
{
    PipelineConfig config =
        config_of(fake_source({.silent_at = 20'480, .undated = true}).uri, {fake_sink().uri});
    config.timeout = 300ms;
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(run(config).error->code().value(), ETIMEDOUT);
    EXPECT_GE(std::chrono::steady_clock::now() - start, 300ms);
}

TEST(Limits, ASourceWithoutADeadlineDoesNotTimeOut)
{
    const SourceAt source = fake_source({.silent_at = 2048, .unhurried = true});
    PipelineConfig config = config_of(source.uri, {fake_sink().uri});
    config.timeout = 10ms;
    Session session;
    session.add(config);
    session.prepare();
    session.start();
    EXPECT_TRUE(eventually([&] { return source.log->timeouts >= 3; }));
    EXPECT_FALSE(session[0].ended());
    session.stop();
    EXPECT_EQ(session[0].summary().ended, "signal");
}

} // namespace
