// SPDX-License-Identifier: MIT
// The states of a stream, and the events that end each state: a stop, an error, or a peer that is
// away.
#include "core/stream/engine.hpp"
#include "support/eventually.hpp"
#include "support/fake.hpp"

#include <gtest/gtest.h>
#include <map>
#include <set>
#include <thread>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;
using namespace std::chrono_literals;
using detail::StreamState;
using enum StreamState;

const std::set<std::pair<StreamState, StreamState>> kTransitions{
    {prepared, waiting_for_peer},  {prepared, running},     {waiting_for_peer, running},
    {running, stopping},           {running, source_ended}, {source_ended, repeating},
    {waiting_for_peer, finishing}, {running, finishing},    {stopping, finishing},
    {source_ended, finishing},     {repeating, finishing},  {finishing, ended},
};

TEST(StreamState, OnlyTheTransitionsOfTheDiagramArePossible)
{
    for (int from = 0; from <= static_cast<int>(ended); ++from)
        for (int to = 0; to <= static_cast<int>(ended); ++to) {
            const std::pair one{static_cast<StreamState>(from), static_cast<StreamState>(to)};
            EXPECT_EQ(may_follow(one.first, one.second), kTransitions.contains(one))
                << from << " -> " << to;
        }
}

/// A stream that is brought into a state and stays there. The sink keeps each block until let_go()
/// and has room for one block, so a second block waits in the engine.
class Stream {
public:
    Stream(StreamState state, bool threaded)
    {
        FakeSource::Script source;
        source.unhurried = true;
        source.fail_at = kUnknown;
        source.start = [this] {
            if (source_fails)
                throw Error(Fault::device, ENODEV, "start", "fake");
        };
        FakeSink::Script sink;
        sink.may_block = threaded;
        sink.keeps = true;
        sink.repeats = state == repeating;
        sink.service = [this] {
            ++served;
            if (sink_fails)
                throw Error(Fault::storage, EIO, "write", "fake");
        };
        sink.connected = [this] { return !peer_gone; };
        sink.has_receiver = [this] {
            if (sink_fails)
                throw Error(Fault::storage, EIO, "accept", "fake");
            return receiver.load();
        };
        PipelineConfig config;
        config.block_size = kBlock;
        config.blocks = 8;
        config.timeout = 200ms;
        detail::SinkLinkOptions options;
        switch (state) {
        case waiting_for_peer:
            receiver = false;
            break;
        case running:
            source.silent_at = 2048;
            break;
        case stopping:
            source.losses = {{.at = 1500, .samples = 10}};
            config.on_gap = OnGap::stop;
            options.hold = 1;
            break;
        case source_ended:
            source.total = 1500;
            options.hold = 1;
            break;
        case repeating:
            sink.keeps = false;
            source.total = 1500;
            break;
        default: // finishing
            source.total = 1500;
        }
        auto fake = std::make_unique<FakeSink>(std::move(sink));
        log = fake->log();
        std::vector<std::unique_ptr<detail::SinkLink>> links;
        links.push_back(std::make_unique<detail::SinkLink>(std::move(fake), "fake:", options));
        engine = std::make_unique<detail::Engine>(config,
                                                  std::make_unique<FakeSource>(std::move(source)),
                                                  std::nullopt, std::move(links));
        engine->prepare();
        EXPECT_EQ(engine->state(), prepared);
        control.start();
        engine->start_sinks();
        engine->start_storage();
        engine->start_source();
        engine->launch(control, over);
        EXPECT_TRUE(eventually([&] { return engine->state() == state; }))
            << "the stream is in state " << static_cast<int>(engine->state());
        EXPECT_TRUE(state != running || eventually([&] { return log->samples == 2048; }));
    }
    ~Stream() { engine->abandon(); }

    void expect_end(const std::string& reason)
    {
        EXPECT_TRUE(eventually([&] { return engine->ended(); }))
            << "the stream stays in state " << static_cast<int>(engine->state());
        if (engine->ended()) {
            EXPECT_EQ(engine->summary().ended, reason);
        }
    }
    /// Waits until the deadline of a block has passed, and for one more check of the sink.
    void wait_beyond_the_deadline()
    {
        const int before = served;
        std::this_thread::sleep_for(400ms);
        if (receiver) {
            EXPECT_TRUE(eventually([&] { return served > before; }));
        }
    }

    std::atomic<bool> receiver{true}, sink_fails{false}, source_fails{false}, peer_gone{false};
    std::atomic<int> served{0};
    std::shared_ptr<FakeSink::Log> log;
    sys::Event over;
    detail::ControlThread control;
    std::unique_ptr<detail::Engine> engine;
};

struct StreamStates : testing::TestWithParam<std::tuple<StreamState, bool>> {
    StreamState state() const { return std::get<0>(GetParam()); }
    bool threaded() const { return std::get<1>(GetParam()); }
    /// Returns the reason with which the stream ends by itself; "" if it does not.
    std::string own_reason() const
    {
        return state() == stopping ? "gap" : state() == finishing ? "eof" : "";
    }
    std::string reason_of_a_stop() const { return own_reason().empty() ? "signal" : own_reason(); }
};

TEST_P(StreamStates, AStopEndsTheStreamWithAllSamplesThatArrived)
{
    Stream stream(state(), threaded());
    stream.engine->request_stop(Stop::drain);
    stream.log->let_go(8);
    stream.expect_end(reason_of_a_stop());
    const std::map<StreamState, std::uint64_t> samples{{waiting_for_peer, 0}, {running, 2048},
                                                       {stopping, 1500},      {source_ended, 1500},
                                                       {repeating, 1500},     {finishing, 1500}};
    EXPECT_EQ(stream.engine->stats().sinks[0].delivered_samples, samples.at(state()));
    EXPECT_EQ(stream.log->bytes, ramp(0, samples.at(state())));
}

TEST_P(StreamStates, AnAbortEndsTheStreamWithoutWaitingForTheSink)
{
    Stream stream(state(), threaded());
    stream.engine->request_stop(Stop::abort);
    stream.expect_end(reason_of_a_stop());
}

TEST_P(StreamStates, AnErrorOfTheSinkEndsTheStream)
{
    Stream stream(state(), threaded());
    stream.sink_fails = true;
    stream.log->news.set();
    stream.expect_end("error");
    EXPECT_EQ(stream.engine->summary().error->fault(), Fault::storage);
}

TEST_P(StreamStates, APeerThatIsAwayEndsTheStreamOnlyAfterAStopRequest)
{
    Stream stream(state(), threaded());
    stream.peer_gone = true;
    stream.wait_beyond_the_deadline();
    EXPECT_EQ(stream.engine->state(), state());
    stream.engine->request_stop(Stop::drain);
    EXPECT_TRUE(eventually([&] { return stream.engine->ended(); }));
}

TEST_P(StreamStates, AStreamCanBePreparedAgainAfterItsEnd)
{
    Stream stream(state(), threaded());
    stream.engine->request_stop(Stop::abort);
    stream.expect_end(reason_of_a_stop());
    stream.engine->prepare();
    EXPECT_EQ(stream.engine->state(), prepared);
}

std::string name_of_case(const testing::TestParamInfo<std::tuple<StreamState, bool>>& info)
{
    const std::map<StreamState, std::string> names{
        {waiting_for_peer, "WaitingForPeer"}, {running, "Running"},     {stopping, "Stopping"},
        {source_ended, "SourceEnded"},        {repeating, "Repeating"}, {finishing, "Finishing"}};
    return names.at(std::get<0>(info.param)) + (std::get<1>(info.param) ? "Threaded" : "Inline");
}

INSTANTIATE_TEST_SUITE_P(Each, StreamStates,
                         testing::Combine(testing::Values(waiting_for_peer, running, stopping,
                                                          source_ended, repeating, finishing),
                                          testing::Bool()),
                         name_of_case);

TEST(StreamState, AReceiverThatArrivesStartsTheSource)
{
    Stream stream(waiting_for_peer, false);
    stream.receiver = true;
    stream.log->let_go(1000);
    EXPECT_TRUE(eventually([&] { return stream.engine->state() == running; }));
    stream.engine->request_stop(Stop::drain);
    stream.expect_end("signal");
}

TEST(StreamState, AFailedSourceStartAfterTheReceiverArrivesIsAnError)
{
    Stream stream(waiting_for_peer, false);
    stream.source_fails = true;
    stream.receiver = true;
    stream.expect_end("error");
    EXPECT_EQ(stream.engine->summary().error->fault(), Fault::device);
}

TEST(StreamState, AnErrorOfTheSourceEndsARunningStream)
{
    const Summary summary = run(config_of(fake_source({.fail_at = 2048}).uri, {fake_sink().uri}));
    EXPECT_EQ(summary.ended, "error");
    EXPECT_EQ(summary.stats.sinks[0].delivered_samples, 2048u);
}

TEST(StreamState, ASinkWithRoomGetsABlockBeforeGiveReturns)
{
    auto fake = std::make_unique<FakeSink>(FakeSink::Script{});
    const auto log = fake->log();
    detail::SinkLink link(std::move(fake), "fake:", {});
    BlockPool pool(Memory{}, kBlock, 2, CpuUse::mapped);
    StreamInfo info;
    info.format = Format::parse("ci16_le");
    info.block_size = kBlock;
    std::string why;
    ASSERT_TRUE(link.plan(info.format, pool.traits(), why));
    ASSERT_TRUE(link.prepare(info, pool, std::make_shared<sys::Event>(), why));
    link.start();
    BlockInfo block;
    block.bytes = kBlock;
    link.give(std::move(*pool.take()).fill(block));
    EXPECT_EQ(log->samples, kBlock / 4);
    EXPECT_EQ(link.stats().delivered_samples, kBlock / 4);
}

} // namespace
