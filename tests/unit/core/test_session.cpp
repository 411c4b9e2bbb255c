// SPDX-License-Identifier: MIT
// The life cycle of sessions and pipelines.
#include "iio_stream/session.hpp"
#include "support/errors.hpp"
#include "support/eventually.hpp"
#include "support/fake.hpp"
#include "support/temp_dir.hpp"

#include <atomic>
#include <gtest/gtest.h>
#include <thread>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;
using namespace std::chrono_literals;

TEST(Session, AWaitCanBeUnlimited)
{
    Session session;
    session.add(config_of(fake_source({.total = 10'000}).uri, {fake_sink().uri}));
    session.prepare();
    session.start();
    EXPECT_TRUE(session.wait(std::chrono::nanoseconds::max()));
}

TEST(Session, AFailingSourceIsNamedAndItsDeliveredSamplesAreKept)
{
    const SinkAt sink = fake_sink({.may_block = true});
    const Summary summary = run(config_of(fake_source({.fail_at = 5120}).uri, {sink.uri}));
    EXPECT_EQ(summary.ended, "error");
    ASSERT_TRUE(summary.error);
    EXPECT_EQ(summary.error->fault(), Fault::device);
    EXPECT_EQ(summary.error->code().value(), ENODEV);
    EXPECT_EQ(fault_of(summary), Fault::device);
    EXPECT_EQ(sink.log->bytes, ramp(0, 5120));
    EXPECT_EQ(sink.log->drained, 1);
}

TEST(Session, AnyExceptionOfASourceBecomesAnError)
{
    struct Odd {};
    const auto source = fake_source({.start = [] { throw Odd{}; }});
    Session session;
    session.add(config_of(source.uri, {fake_sink().uri}));
    session.prepare();
    EXPECT_EQ(error_of([&] { session.start(); }).fault(), Fault::device);
}

TEST(Session, StopEndsAnEndlessStreamFromOutside)
{
    Session session;
    const SinkAt sink = fake_sink({.may_block = true, .records = false});
    session.add(config_of(fake_source({}).uri, {sink.uri}));
    session.prepare();
    session.start();
    EXPECT_TRUE(eventually([&] { return sink.log->samples > 100'000; }));
    EXPECT_FALSE(session.wait(1ms));
    session.stop();
    EXPECT_TRUE(session[0].ended());
    EXPECT_TRUE(session.wait(0ns));
    const Summary summary = session[0].summary();
    EXPECT_EQ(summary.ended, "signal");
    EXPECT_EQ(fault_of(summary), std::nullopt);
    EXPECT_EQ(summary.stats.samples, summary.stats.sinks[0].delivered_samples);
    EXPECT_EQ(sink.log->samples, summary.stats.samples);
    session.stop(); // a second stop() does nothing
}

TEST(Session, AStopRequestFromAnotherThreadEndsTheWait)
{
    Session session;
    session.add(config_of(fake_source({}).uri, {fake_sink({.records = false}).uri}));
    session.prepare();
    session.start();
    std::thread other([&] {
        std::this_thread::sleep_for(20ms);
        session.request_stop();
    });
    EXPECT_TRUE(session.wait(30s));
    other.join();
    EXPECT_EQ(session[0].summary().ended, "signal");
}

TEST(Session, AStopRequestBeforeTheStartIsKept)
{
    Session session;
    session.add(config_of(fake_source({}).uri, {fake_sink({.records = false}).uri}));
    session.request_stop();
    session.prepare();
    session.start();
    EXPECT_TRUE(session.wait(30s));
    EXPECT_EQ(session[0].summary().ended, "signal");
}

TEST(Session, ARunningSessionCanBeDestroyed)
{
    for (int i = 0; i < 50; ++i) {
        Session session;
        const SinkAt sink = fake_sink({.may_block = i % 2 == 0, .records = false});
        session.add(config_of(fake_source({}).uri, {sink.uri}));
        session.add(config_of(fake_source({.total = 1000}).uri, {fake_sink().uri}));
        session.prepare();
        session.start();
        if (i % 3 == 0)
            std::this_thread::sleep_for(1ms);
    }
}

TEST(Session, TwoPipelinesRunAndEndIndependently)
{
    const SinkAt a = fake_sink(), b = fake_sink({.may_block = true});
    Session session;
    session.add(config_of(fake_source({.total = 50'000}).uri, {a.uri}));
    session.add(config_of(fake_source({.total = 1'000}).uri, {b.uri}));
    run(session);
    EXPECT_EQ(session[0].summary().ended, "eof");
    EXPECT_EQ(session[1].summary().ended, "eof");
    EXPECT_EQ(a.log->bytes, ramp(0, 50'000));
    EXPECT_EQ(b.log->bytes, ramp(0, 1'000));
}

TEST(Session, IfOnePipelineFailsTheOtherIsStopped)
{
    Session session;
    session.add(config_of(fake_source({}).uri, {fake_sink({.records = false}).uri}));
    session.add(config_of(fake_source({.fail_at = 4096}).uri, {fake_sink().uri}));
    run(session);
    EXPECT_EQ(session[0].summary().ended, "stopped");
    EXPECT_EQ(fault_of(session[0].summary()), std::nullopt);
    EXPECT_EQ(fault_of(session[1].summary()), Fault::device);
}

TEST(Session, InvalidRequestsAreUsageErrors)
{
    Session session;
    expect_usage_error([&] { session.add(config_of("sim:", {})); }, "no sink", "null:");
    expect_usage_error(
        [&] { session.add(config_of("sim:", std::vector<std::string>(13, "null:"))); }, "13 sinks");
    expect_usage_error([&] { session.add(config_of("sim:?memory=paper", {"null:"})); },
                       "memory=paper");
    expect_usage_error([&] { session.add(config_of("sim:", {"null:?on-full=maybe"})); },
                       "on-full=maybe");
    expect_usage_error([&] { session.add(config_of("sim:", {"null:?hold=0"})); }, "hold=0");
    expect_usage_error([&] { session.add(config_of("null:", {"null:"})); }, "cannot be read from");
    EXPECT_EQ(session.size(), 0u);
}

TEST(Session, TwelveSinksGetTheSameBlocks)
{
    std::vector<SinkAt> sinks;
    std::vector<std::string> uris;
    for (int i = 0; i < 12; ++i) {
        sinks.push_back(fake_sink({.may_block = i % 3 == 0}));
        uris.push_back(sinks.back().uri);
    }
    const Summary summary = run(config_of(fake_source({.total = 20'000}).uri, uris));
    for (const SinkAt& sink : sinks)
        EXPECT_EQ(sink.log->bytes, ramp(0, 20'000));
    EXPECT_EQ(summary.stats.samples, 20'000u);
}

// Mainly for sanitizers: a bug replaced a worker's state while other threads read it.
TEST(Session, AnyThreadCanCallStatsFreeSpaceAndStopDuringARestart)
{
    const TempDir dir;
    Session session;
    session.add(config_of(fake_source({.total = 10'000}).uri,
                          {fake_sink({.may_block = true, .records = false}).uri,
                           fake_sink({.records = false}).uri,
                           "file:" + (dir / "a.ci16") + "?overwrite=on"}));
    std::atomic<bool> over{false};
    std::thread other([&] {
        while (!over) {
            EXPECT_EQ(session[0].stats().sinks.size(), 3u);
            EXPECT_EQ(session[0].free_space_left().size(), 3u);
            session[0].request_stop();
            session.request_stop();
        }
    });
    for (int i = 0; i < 20; ++i) {
        try {
            session.prepare();
        } catch (const Error&) { // cancelled
            continue;
        }
        session.start();
        EXPECT_TRUE(session.wait(30s));
        session.stop();
    }
    over = true;
    other.join();
}

TEST(Session, ClosingTimeIsNotPartOfARate)
{
    constexpr auto kCloses = 100ms;
    const auto sink =
        fake_sink({.may_block = true, .stop = [&](Stop) { std::this_thread::sleep_for(kCloses); }});
    const auto begun = std::chrono::steady_clock::now();
    const Summary summary = run(config_of(fake_source({.total = 10'000}).uri, {sink.uri}));
    const std::chrono::duration<double> all = std::chrono::steady_clock::now() - begun,
                                        closing = kCloses;
    EXPECT_GE(summary.closing_seconds, closing.count());
    EXPECT_LE(summary.stats.source_seconds + closing.count(), all.count());
    EXPECT_LE(summary.stats.seconds + closing.count(), all.count());
}

TEST(Session, AnyThreadCanReadTheStatsOfARunningSession)
{
    Session session;
    session.add(
        config_of(fake_source({}).uri, {fake_sink({.may_block = true, .records = false}).uri,
                                        fake_sink({.records = false}).uri}));
    session.prepare();
    EXPECT_EQ(session[0].stats().seconds, 0);
    session.start();
    std::uint64_t last = 0;
    for (int i = 0; i < 100; ++i) {
        const Stats stats = session[0].stats();
        EXPECT_GE(stats.samples, last);
        EXPECT_EQ(stats.sinks.size(), 2u);
        last = stats.samples;
    }
    session.stop();
}

} // namespace
