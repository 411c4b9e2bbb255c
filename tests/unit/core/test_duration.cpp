// SPDX-License-Identifier: MIT
// The length of a stream with --duration.
#include "iio_stream/session.hpp"
#include "support/errors.hpp"
#include "support/fake.hpp"

#include <chrono>
#include <gtest/gtest.h>
#include <poll.h>
#include <thread>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;
using namespace std::chrono_literals;

TEST(Duration, AtAKnownRateADurationIsAnExactNumberOfSamples)
{
    for (const std::uint64_t ms : {30u, 50u, 111u}) {
        const SinkAt sink = fake_sink();
        PipelineConfig config = config_of("sim:?rate=1M", {sink.uri});
        config.duration = std::chrono::milliseconds(ms);
        const Summary summary = run(config);
        EXPECT_EQ(summary.ended, "duration");
        EXPECT_EQ(summary.produced_samples(), ms * 1000);
        EXPECT_EQ(summary.stats.samples, ms * 1000 - summary.stats.gaps.lost_min);
        EXPECT_GE(summary.stats.seconds, 0.0009 * static_cast<double>(ms));
    }
}

TEST(Duration, ADurationBeginsWithItsOwnSourceHoweverSlowOtherSourcesAre)
{
    const SinkAt sink = fake_sink();
    PipelineConfig config = config_of("sim:?rate=1M", {sink.uri});
    config.duration = 30ms;
    const SourceAt slow =
        fake_source({.total = 1024, .start = [] { std::this_thread::sleep_for(60ms); }});
    Session session;
    session.add(config);
    session.add(config_of(slow.uri, {"null:"}));
    run(session);
    EXPECT_EQ(session[0].summary().ended, "duration");
    EXPECT_GE(session[0].summary().stats.seconds,
              0.027); // its samples arrive while the other source starts
}

TEST(Duration, ADurationFollowsTheDeviceThatPlays)
{
    for (const double stated : {0.0, 2e6}) {
        FakeSource::Script file{.total = 1'000'000};
        file.format_.sample_rate = stated;
        const SourceAt source = fake_source(file);
        const SinkAt sink = fake_sink({.plays_at = 250'000});
        PipelineConfig config = config_of(source.uri, {"null:", sink.uri});
        config.duration = 200ms;
        const Summary summary = run(config);
        EXPECT_EQ(summary.ended, "duration");
        EXPECT_EQ(sink.log->samples, 50'000u) << stated;
    }
}

TEST(Duration, AFileWithoutARateUsesTheBlockSizeOfTheDeviceThatPlays)
{
    const auto block_size = [](FakeSink::Script script) {
        PipelineConfig config =
            config_of(fake_source({.total = 10}).uri, {fake_sink(std::move(script)).uri});
        config.block_size = 0;
        config.blocks = 0;
        config.duration = 10ms;
        return run(config).block_size;
    };
    EXPECT_EQ(block_size({.plays_at = 100'000}), 64u << 10);
    EXPECT_EQ(block_size({.plays_at = 1e9}), 4u << 20);
    EXPECT_EQ(block_size({.repeats = true, .plays_at = 100'000}),
              1u << 20); // room for the samples that are repeated
    EXPECT_EQ(block_size({}), 1u << 20);
}

TEST(Duration, ADurationIsExactEvenIfTheSourceBeganBeforeTheStream)
{
    Session session;
    PipelineConfig config = config_of("sim:?rate=1M", {"null:"});
    config.duration = 50ms;
    config.blocks = 128;
    session.add(config);
    FakeSource::Script slow{.total = 1024};
    slow.start = [] { (void)::poll(nullptr, 0, 20); }; // all streams begin after this start
    session.add(config_of(fake_source(slow).uri, {"null:"}));
    run(session);
    EXPECT_EQ(session[0].summary().ended, "duration");
    EXPECT_EQ(session[0].summary().produced_samples(), 50'000u);
}

TEST(Duration, ADurationThatEndsWithABlockIsExact)
{
    // 16 blocks of 1024 samples at 1.024 MS/s end exactly at 16 ms, so the clock and the block
    // race.
    for (int i = 0; i < 10; ++i) {
        PipelineConfig config = config_of("sim:?rate=1.024M", {fake_sink().uri});
        config.duration = 16ms;
        EXPECT_EQ(run(config).produced_samples(), 16'384u);
    }
}

TEST(Duration, AtAnUnknownRateTheClockEndsADuration)
{
    for (const bool undated : {false, true}) {
        const auto start = std::chrono::steady_clock::now();
        PipelineConfig config =
            config_of(fake_source({.undated = undated}).uri, {fake_sink({.records = false}).uri});
        config.duration = 50ms;
        const Summary summary = run(config);
        const auto took = std::chrono::steady_clock::now() - start;
        EXPECT_EQ(summary.ended, "duration");
        EXPECT_GE(took, 50ms);
        EXPECT_LT(took, 5s);
        EXPECT_GT(summary.stats.samples, 0u);
    }
}

TEST(Duration, AfterARateChangeTheClockEndsADuration)
{
    for (const double rate : {1e6, 2e6}) {
        Settings settings, changed;
        settings.rate = 1e6;
        changed.rate = rate;
        FakeSource::Script script{
            .settings = settings,
            .retunings = {{.reported_at = 2048, .begin = 100, .end = 200, .settings = changed}},
            .undetectable = true};
        script.format_.sample_rate = 1e6;
        PipelineConfig config =
            config_of(fake_source(script).uri, {fake_sink({.records = false}).uri});
        config.duration = 50ms;
        const auto start = std::chrono::steady_clock::now();
        const Summary summary = run(config); // as fast as blocks are requested
        const auto took = std::chrono::steady_clock::now() - start;
        EXPECT_EQ(summary.ended, "duration");
        if (rate == 1e6) {
            EXPECT_EQ(summary.stats.samples, 50'000u);
            continue;
        }
        EXPECT_GE(took,
                  50ms); // the fake needs much less time for 50'000 samples
    }
}

TEST(Duration, ADurationEndsASilentStream)
{
    PipelineConfig config =
        config_of(fake_source({.silent_at = 2048}).uri, {fake_sink({.may_block = true}).uri});
    config.duration = 50ms;
    const Summary summary = run(config);
    EXPECT_EQ(summary.ended, "duration");
    EXPECT_EQ(summary.stats.samples, 2048u);
}

TEST(Duration, AStreamWithoutAnySamplesTimesOutAfterItsDuration)
{
    // If the source is unhurried, it gets another attempt with the whole duration.
    for (const bool unhurried : {false, true}) {
        FakeSource::Script script{
            .silent_at = 0, .attempts = unhurried ? 1 : 0, .undetectable = true};
        script.format_.sample_rate = 1e6;
        const SourceAt source = fake_source(script);
        PipelineConfig config = config_of(source.uri, {fake_sink().uri});
        config.duration = 50ms;
        config.timeout = 10s;
        const auto start = std::chrono::steady_clock::now();
        const Summary summary = run(config);
        EXPECT_GE(std::chrono::steady_clock::now() - start, unhurried ? 100ms : 50ms);
        EXPECT_EQ(fault_of(summary), Fault::device);
        ASSERT_TRUE(summary.error);
        EXPECT_EQ(summary.error->code().value(), ETIMEDOUT);
        EXPECT_EQ(source.log->timeouts, unhurried ? 2 : 1);
    }
}

TEST(Duration, ADurationBeyondTheClocksRangeDoesNotEndAtOnce)
{
    PipelineConfig config = config_of(fake_source({.total = 100'000}).uri, {fake_sink().uri});
    config.duration = std::chrono::nanoseconds::max();
    EXPECT_EQ(run(config).ended, "eof");
}

} // namespace
