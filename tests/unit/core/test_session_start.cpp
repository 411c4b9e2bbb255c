// SPDX-License-Identifier: MIT
// Preparing, starting and restarting sessions.
#include "iio_stream/session.hpp"
#include "support/errors.hpp"
#include "support/fake.hpp"

#include <gtest/gtest.h>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;
using namespace std::chrono_literals;

TEST(SessionStart, DestroyingAPreparedSessionClosesItsEndpoints)
{
    const SourceAt source = fake_source({});
    const SinkAt sink = fake_sink({.may_block = true});
    {
        Session session;
        session.add(config_of(source.uri, {sink.uri}));
        session.prepare();
    }
    EXPECT_GE(source.log->stopped, 1);
    EXPECT_EQ(sink.log->aborted, 1);
    EXPECT_EQ(sink.log->destroyed, 1);
}

TEST(SessionStart, AFailedStartStopsEverythingThatHadStarted)
{
    const SourceAt first = fake_source({});
    const SinkAt sink = fake_sink({.may_block = true});
    Session session;
    session.add(config_of(first.uri, {sink.uri}));
    session.add(config_of(
        fake_source({.start = [] { throw Error(Fault::other, EBUSY, "enable", "fake"); }}).uri,
        {fake_sink().uri}));
    session.prepare();
    const Error error = error_of([&] { session.start(); });
    EXPECT_EQ(error.fault(), Fault::device);
    EXPECT_EQ(error.code().value(), EBUSY);
    EXPECT_EQ(first.log->started, 1);
    EXPECT_GE(first.log->stopped, 1);
    EXPECT_EQ(sink.log->aborted, 1);
}

TEST(SessionStart, StorageStartsAfterTheOtherSinksOfAllStreams)
{
    const SinkAt storage = fake_sink(), other = fake_sink();
    Session session;
    session.add(config_of(fake_source({}).uri, {storage.uri}));
    session.add(config_of(
        fake_source({}).uri,
        {other.uri, fake_sink({.fault = Fault::device,
                               .start = [] { throw Error(Fault::device, EBUSY, "start", "fake"); }})
                        .uri}));
    session.prepare();
    EXPECT_EQ(error_of([&] { session.start(); }).code().value(), EBUSY);
    EXPECT_EQ(storage.log->started + other.log->started, 0);
    EXPECT_EQ(storage.log->aborted + other.log->aborted, 2);
}

TEST(SessionStart, ASessionCanBeStartedAgainAfterItsEnd)
{
    const SourceAt source = fake_source({.total = 10'000, .losses = {{.at = 500, .samples = 100}}});
    const SinkAt inlined = fake_sink(), threaded = fake_sink({.may_block = true});
    Session session;
    session.add(config_of(source.uri, {inlined.uri, threaded.uri}));
    for (int i = 1; i <= 5; ++i) {
        inlined.log->bytes.clear();
        threaded.log->bytes.clear();
        run(session);
        const Summary summary = session[0].summary();
        EXPECT_EQ(summary.ended, "eof");
        EXPECT_FALSE(summary.error);
        EXPECT_EQ(summary.stats.samples, 9'900u);
        EXPECT_EQ(summary.stats.gaps.lost_min, 100u);
        for (const SinkStats& sink : summary.stats.sinks)
            EXPECT_EQ(sink.delivered_samples, 9'900u);
        EXPECT_EQ(inlined.log->bytes, ramp(0, 500) + ramp(600, 9'400));
        EXPECT_EQ(threaded.log->bytes, ramp(0, 500) + ramp(600, 9'400));
        EXPECT_EQ(threaded.log->drained, i);
    }
}

TEST(SessionStart, ASessionCanBeStartedAgainAfterAStopOrAnError)
{
    const SourceAt source = fake_source({.fail_at = 100'352});
    const SinkAt sink = fake_sink({.may_block = true, .records = false});
    Session session;
    session.add(config_of(source.uri, {sink.uri}));
    session.prepare();
    session.start();
    session.request_stop();
    EXPECT_TRUE(session.wait(30s));
    for (int i = 0; i < 2; ++i) {
        run(session);
        EXPECT_EQ(session[0].summary().ended, "error");
        EXPECT_EQ(session[0].summary().stats.samples, 100'352u);
    }
}

TEST(SessionStart, AfterARefusedPathTheNextPathIsTried)
{
    int tried = 0;
    const SinkAt first = fake_sink();
    const SinkAt second = fake_sink({.prepare = [&](BlockPool&, std::string& why) {
        why = "not like this";
        return ++tried == 2;
    }});
    const SourceAt source = fake_source({.total = 1000});
    const Summary summary = run(config_of(source.uri, {first.uri, second.uri}));
    EXPECT_EQ(summary.ended, "eof");
    EXPECT_EQ(tried, 2);
    EXPECT_EQ(first.log->bytes, ramp(0, 1000));
    EXPECT_EQ(second.log->bytes, ramp(0, 1000));
}

TEST(SessionStart, IfEveryPathIsRefusedTheStartFails)
{
    const SinkAt sink = fake_sink({.prepare = [](BlockPool&, std::string&) { return false; }});
    Session session;
    session.add(config_of(fake_source({}).uri, {sink.uri}));
    EXPECT_EQ(error_of([&] { session.prepare(); }).fault(), Fault::device);
}

TEST(SessionStart, AFailedPreparationNamesTheEndpointThatFailed)
{
    const Error unblamed{Fault::other, EACCES, "open", "x"};
    Session session;
    session.add(config_of(
        fake_source({}).uri,
        {fake_sink({.prepare = [&](BlockPool&, std::string&) -> bool { throw unblamed; }}).uri}));
    EXPECT_EQ(error_of([&] { session.prepare(); }).fault(), Fault::storage);
    Session other;
    other.add(config_of(
        fake_source({.prepare = [&](BlockPool&, std::string&) -> bool { throw unblamed; }}).uri,
        {fake_sink().uri}));
    EXPECT_EQ(error_of([&] { other.prepare(); }).fault(), Fault::device);
}

} // namespace
