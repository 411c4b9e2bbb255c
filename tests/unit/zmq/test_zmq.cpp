// SPDX-License-Identifier: MIT
// The zmq: endpoints, with a plain libzmq peer in the same process.
#include "support/errors.hpp"
#include "support/eventually.hpp"
#include "support/fake.hpp"
#include "support/files.hpp"
#include "support/temp_dir.hpp"
#include "support/zmq_peer.hpp"

#include <atomic>
#include <cstring>
#include <gtest/gtest.h>
#include <thread>
#include <zmq.h>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;
using namespace std::chrono_literals;

PipelineConfig to_peer(const std::string& sink, std::uint64_t samples)
{
    PipelineConfig config = config_of(fake_source({.total = samples}).uri, {sink});
    config.timeout = 10s;
    return config;
}

TEST(ZmqSink, EachBlockIsAMessageOfRawSamples)
{
    Peer pull(ZMQ_PULL, "tcp://127.0.0.1:*", true);
    const std::string sink = "zmq:" + pull.address() + "?pattern=push&bind=off&on-full=block";
    std::vector<std::byte> first, rest;
    std::thread receiver([&] {
        first = pull.receive();
        rest = pull.receive_all(4 * (12'345 - 1024));
    });
    const Summary summary = run(to_peer(sink, 12'345));
    receiver.join();
    EXPECT_FALSE(summary.error) << summary.error->what();
    EXPECT_EQ(first.size(), kBlock);
    EXPECT_EQ(first + rest, ramp(0, 12'345));
    EXPECT_EQ(summary.stats.sinks[0].delivered_samples, 12'345u);
    EXPECT_EQ(summary.route[1].mechanism, "zmq-push");
}

TEST(ZmqSink, ASubscriberThatConnectsInTimeGetsEverySample)
{
    const TempDir dir;
    const std::string address = "ipc://" + dir / "samples";
    Peer sub(ZMQ_SUB, address, false);
    std::vector<std::byte> got;
    std::thread receiver([&] { got = sub.receive_all(4 * 50'000); });
    const Summary summary = run(to_peer("zmq:" + address + "?wait=on&on-full=block", 50'000));
    EXPECT_FALSE(summary.error) << summary.error->what();
    receiver.join();
    EXPECT_EQ(got, ramp(0, 50'000));
    const std::string report = summary.sink_reports[0];
    EXPECT_TRUE(report.starts_with("{\"unheard_samples\":0,\"subscribers\":[{\"peer\":\"process "))
        << report;
    EXPECT_TRUE(report.ends_with("\"delivered_samples\":50000,\"dropped_samples\":0}]}")) << report;
}

TEST(ZmqSink, WithoutASubscriberSamplesAreDiscardedWithoutWaiting)
{
    const TempDir dir;
    const Summary summary = run(to_peer("zmq:ipc://" + dir / "samples", 50'000));
    EXPECT_FALSE(summary.error) << summary.error->what();
    EXPECT_TRUE(summary.sink_reports[0].ends_with(",\"subscribers\":[]}"));
    EXPECT_EQ(summary.stats.sinks[0].delivered_samples, 0u);
    EXPECT_EQ(summary.stats.sinks[0].dropped_samples, 50'000u);
    EXPECT_EQ(summary.stats.sinks[0].bytes, 0u);
}

TEST(ZmqSink, BlocksThatASlowSubscriberHasNoRoomForAreCounted)
{
    constexpr std::uint64_t kSamples = 20'000'000 / 1024 * 1024;
    const TempDir dir;
    const std::string address = "ipc://" + dir / "samples";
    Peer sub(ZMQ_SUB, address, false, 1);
    PipelineConfig config = to_peer("zmq:" + address + "?wait=on", 0);
    config.source = fake_source({.silent_at = kSamples, .unhurried = true}).uri;
    Session session;
    session.add(config);
    session.prepare();
    session.start();
    const auto stats = [&] { return session[0].stats().sinks[0]; };
    EXPECT_TRUE(eventually([&] { return stats().dropped_samples > 1'000'000; }));
    std::vector<std::byte> got;
    std::atomic<std::uint64_t> bytes{0};
    std::atomic<bool> done{false};
    std::thread receiver([&] { // has not read until now
        while (!done) {
            const auto next = sub.receive(100);
            got.insert(got.end(), next.begin(), next.end());
            bytes = got.size();
        }
    });
    EXPECT_TRUE(eventually([&] {
        const SinkStats now = stats();
        return now.delivered_samples + now.dropped_samples == kSamples &&
               bytes == 4 * now.delivered_samples;
    }));
    session.stop();
    done = true;
    receiver.join();
    EXPECT_FALSE(session[0].summary().error);
    ASSERT_EQ(got.size(), 4 * stats().delivered_samples);
    for (std::size_t at = 0; at < got.size(); at += kBlock) { // whole blocks of the ramp
        std::uint64_t word;
        std::memcpy(&word, got.data() + at, sizeof word);
        const auto block = ramp(2 * word, kBlock / 4);
        ASSERT_EQ(std::memcmp(got.data() + at, block.data(), kBlock), 0);
    }
}

TEST(ZmqSink, APeerThatDepartsIsNotAnErrorAndItsBlocksAreReturned)
{
    const TempDir dir;
    const std::string address = "ipc://" + dir / "samples";
    auto sub = std::make_unique<Peer>(ZMQ_SUB, address, false);
    Session session;
    PipelineConfig config = to_peer("zmq:" + address + "?wait=on&on-full=block", kUnknown);
    session.add(config);
    session.prepare();
    session.start();
    EXPECT_FALSE(sub->receive().empty());
    sub.reset(); // with unread messages
    const std::uint64_t then = session[0].stats().samples;
    EXPECT_TRUE(eventually([&] { return session[0].stats().samples > then + 1'000'000; }));
    session.stop();
    EXPECT_FALSE(session[0].summary().error);
    EXPECT_FALSE(session[0].summary().sink_reports[0].starts_with("{\"unheard_samples\":0,"));
}

TEST(ZmqSink, APeerThatNeverConnectsIsNamedAtTheDeadline)
{
    const TempDir dir;
    for (const char* options : {"?bind=off", "?wait=on", "?bind=off&pattern=push"}) {
        PipelineConfig config = to_peer("zmq:ipc://" + dir / "nowhere" + options, 10);
        config.timeout = 50ms;
        Session session;
        session.add(config);
        const Error error = error_of([&] { session.prepare(); });
        EXPECT_EQ(error.code().value(), ETIMEDOUT);
        EXPECT_EQ(error.object(), "ipc://" + dir / "nowhere");
        EXPECT_NE(std::string(error.what()).find("--timeout"), std::string::npos);
    }
}

TEST(ZmqSink, AnAddressInUseIsReportedWithItsErrno)
{
    Peer holder(ZMQ_PUB, "tcp://127.0.0.1:*", true);
    Session session;
    session.add(to_peer("zmq:" + holder.address(), 10));
    const Error error = error_of([&] { session.prepare(); });
    EXPECT_EQ(error.code().value(), EADDRINUSE);
    EXPECT_EQ(error.operation(), "bind");
    EXPECT_EQ(error.object(), holder.address());
}

TEST(ZmqSource, MessagesOfAnySizeBecomeTheStream)
{
    Peer push(ZMQ_PUSH, "tcp://127.0.0.1:*", true);
    const auto sent = ramp(0, 30'000);
    std::thread sender([&] {
        std::size_t at = 0;
        for (std::size_t samples = 1; at < sent.size(); samples = samples * 3 + 1) {
            const std::size_t end = std::min(at + 4 * samples, sent.size());
            push.send({sent.begin() + static_cast<std::ptrdiff_t>(at),
                       sent.begin() + static_cast<std::ptrdiff_t>(end)});
            at = end;
        }
    });
    const SinkAt sink = fake_sink();
    PipelineConfig config =
        config_of("zmq:" + push.address() + "?pattern=pull&format=ci16_le", {sink.uri});
    config.samples = 30'000;
    config.timeout = 10s;
    const Summary summary = run(config);
    sender.join();
    EXPECT_EQ(summary.ended, "samples");
    EXPECT_EQ(sink.log->bytes, sent);
}

TEST(ZmqSource, ASilentSenderEndsTheStreamAfterItsLastSamples)
{
    Peer push(ZMQ_PUSH, "tcp://127.0.0.1:*", true);
    std::thread sender([&] { push.send(ramp(0, 1500)); });
    const SinkAt sink = fake_sink();
    PipelineConfig config =
        config_of("zmq:" + push.address() + "?pattern=pull&format=ci16_le", {sink.uri});
    config.timeout = 1s;
    const Summary summary = run(config);
    sender.join();
    ASSERT_TRUE(summary.error);
    EXPECT_EQ(summary.error->code().value(), ETIMEDOUT);
    EXPECT_EQ(summary.error->object(), push.address());
    EXPECT_EQ(fault_of(summary), Fault::device);
    EXPECT_EQ(sink.log->bytes, ramp(0, 1500));
}

TEST(ZmqSource, MessagesThatAreNotWholeSamplesAreRefused)
{
    for (const bool parts : {false, true}) {
        Peer push(ZMQ_PUSH, "tcp://127.0.0.1:*", true);
        std::thread sender([&] {
            push.send(parts ? ramp(0, 8) : std::vector<std::byte>(7), parts ? ZMQ_SNDMORE : 0);
            if (parts)
                push.send(ramp(0, 8));
        });
        PipelineConfig config =
            config_of("zmq:" + push.address() + "?pattern=pull&format=ci16_le", {fake_sink().uri});
        config.timeout = 10s;
        const Summary summary = run(config);
        sender.join();
        ASSERT_TRUE(summary.error);
        EXPECT_EQ(summary.error->code().value(), EBADMSG) << summary.error->what();
    }
}

TEST(Zmq, InvalidOptionsAreRefused)
{
    Session session;
    const auto sink = [&](const char* uri) { session.add(config_of("sim:", {uri})); };
    const auto source = [&](const char* uri) { session.add(config_of(uri, {"null:"})); };
    expect_usage_error([&] { sink("zmq:localhost:1"); }, "tcp://");
    expect_usage_error([&] { sink("zmq:inproc://x"); }, "inproc");
    expect_usage_error([&] { sink("zmq:tcp://*:1?pattern=sub"); }, "not pub or push");
    expect_usage_error([&] { sink("zmq:tcp://*:1?hwm=0"); }, "hwm=0");
    expect_usage_error([&] { source("zmq:tcp://*:1?pattern=push&format=ci8"); }, "sub or pull");
    expect_usage_error([&] { source("zmq:tcp://*:1"); }, "format=");
}

} // namespace
