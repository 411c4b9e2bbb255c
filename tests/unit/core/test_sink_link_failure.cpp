// SPDX-License-Identifier: MIT
// Sinks that fail, that miss the deadline, or that never return.
#include "core/stream/sink_link.hpp"
#include "support/errors.hpp"
#include "support/eventually.hpp"
#include "support/fake.hpp"
#include "support/gate.hpp"

#include <gtest/gtest.h>
#include <thread>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;
using namespace std::chrono_literals;

TEST(SinkLink, AFailingSinkEndsTheStreamAndTheOthersKeepTheirSamples)
{
    for (const bool may_block : {false, true}) {
        const SinkAt bad = fake_sink({.may_block = may_block, .fail_at = 10'000});
        const SinkAt good = fake_sink({.may_block = !may_block}), inlined = fake_sink();
        const Summary summary =
            run(config_of(fake_source({}).uri, {good.uri, bad.uri, inlined.uri}));
        EXPECT_EQ(summary.ended, "error");
        EXPECT_EQ(fault_of(summary), Fault::storage); // the fault that the sink declares
        EXPECT_EQ(summary.error->code().value(), EIO);
        EXPECT_EQ(bad.log->aborted, 1);
        EXPECT_EQ(good.log->drained, 1);
        EXPECT_EQ(bad.log->bytes, ramp(0, 9 * 1024));
        EXPECT_EQ(good.log->bytes, ramp(0, summary.stats.samples));
        EXPECT_EQ(inlined.log->bytes, ramp(0, summary.stats.samples));
        expect_balance(summary);
    }
}

TEST(SinkLink, EveryBlockOfAFailingSinkIsCountedHoweverTheThreadsRace)
{
    for (int i = 0; i < 300; ++i) {
        const SinkAt bad = fake_sink({.may_block = true,
                                      .records = false,
                                      .fail_at = static_cast<std::uint64_t>(i % 7) * 1024});
        PipelineConfig config = config_of(fake_source({}).uri, {bad.uri});
        config.block_size = 64;
        expect_balance(run(config));
    }
}

TEST(SinkLink, OfTwoErrorsTheOneThatDecidesTheExitStatusIsKept)
{
    const SinkAt minor = fake_sink({.may_block = true, .stop = [](Stop) {
                                        throw Error(Fault::samples, EBADMSG, "verify", "fake");
                                    }});
    const SinkAt major = fake_sink({.may_block = true, .stop = [](Stop) {
                                        throw Error(Fault::storage, ENOSPC, "write", "fake");
                                    }});
    const Summary summary =
        run(config_of(fake_source({.total = 1000}).uri, {minor.uri, major.uri}));
    EXPECT_EQ(fault_of(summary), Fault::storage);
    const Summary device = run(config_of(fake_source({.fail_at = 1024}).uri,
                                         {fake_sink({.stop = [](Stop) {
                                              throw Error(Fault::storage, ENOSPC, "write", "fake");
                                          }}).uri}));
    EXPECT_EQ(fault_of(device), Fault::device);
}

TEST(SinkLink, AnErrorOnClosingIsAnErrorOfTheStream)
{
    const SinkAt sink = fake_sink({.stop = [](Stop) { throw std::runtime_error("odd"); }});
    const Summary summary = run(config_of(fake_source({.total = 1000}).uri, {sink.uri}));
    EXPECT_EQ(summary.ended, "error");
    EXPECT_EQ(fault_of(summary), Fault::storage);
    EXPECT_NE(std::string(summary.error->what()).find("odd"), std::string::npos);
    EXPECT_EQ(summary.stats.sinks[0].delivered_samples, 1000u);
}

TEST(SinkLink, AnyExceptionIsAnErrorAndDoesNotKillTheProcess)
{
    for (const bool may_block : {false, true}) {
        const SinkAt sink =
            fake_sink({.may_block = may_block, .submit = [](const Block&, int) { throw 42; }});
        const Summary summary = run(config_of(fake_source({.total = 1000}).uri, {sink.uri}));
        EXPECT_EQ(fault_of(summary), Fault::storage);
        expect_balance(summary);
    }
}

TEST(SinkLink, ASlowSinkCanDrainWhileItFinishesBlocks)
{
    const SinkAt sink = fake_sink(
        {.may_block = true, .submit = [](const Block&, int) { (void)::poll(nullptr, 0, 40); }});
    PipelineConfig config = config_of(fake_source({.total = 8 * 1024}).uri, {sink.uri});
    config.timeout = 120ms; // three times the time of a block, and a third of the total time
    const Summary summary = run(config);
    EXPECT_EQ(summary.ended, "eof");
    EXPECT_EQ(sink.log->bytes, ramp(0, 8 * 1024));
}

TEST(SinkLink, ASinkCanFinishSlowlyWhileItMakesProgress)
{
    for (const bool moves : {true, false}) {
        const auto progress = std::make_shared<std::atomic<std::uint64_t>>(0);
        const auto end = [=](Stop) {
            for (int i = 0; i < 25; ++i) {
                std::this_thread::sleep_for(100ms); // 2.5 s in total, with a deadline of 1.5 s
                *progress += moves ? 1 : 0;
            }
        };
        const SinkAt sink = fake_sink(
            {.may_block = true, .stop = end, .progress = [=] { return progress->load(); }});
        PipelineConfig config = config_of(fake_source({.total = 1000}).uri, {sink.uri});
        config.timeout = 1500ms;
        const Summary summary = run(config);
        EXPECT_EQ(summary.error.has_value(), !moves);
    }
}

TEST(SinkLink, ASinkThatNeverFinishesIsCancelledAtTheDeadline)
{
    for (const bool may_block : {false, true}) {
        Gate gate;
        FakeSink::Script script{.may_block = may_block, .keeps = !may_block};
        if (may_block)
            script.submit = gate.hold_up(true);
        const SinkAt sink = fake_sink(script);
        PipelineConfig config = config_of(fake_source({.total = 4096}).uri, {sink.uri});
        config.timeout = 50ms;
        const Summary summary = run(config);
        EXPECT_EQ(summary.ended, "error");
        EXPECT_EQ(summary.error->code().value(), ETIMEDOUT);
        EXPECT_EQ(fault_of(summary), Fault::storage);
        expect_balance(summary);
    }
}

TEST(SinkLink, AnAbortDoesNotWaitForTheDeadline)
{
    Gate gate;
    const SinkAt sink = fake_sink({.may_block = true, .submit = gate.hold_up(true)});
    PipelineConfig config = config_of(fake_source({}).uri, {sink.uri});
    config.timeout = 20s;
    Session session;
    session.add(config);
    session.prepare();
    session.start();
    EXPECT_TRUE(eventually([&] { return gate.waiting == 1; }));
    const auto start = std::chrono::steady_clock::now();
    session.stop(Stop::abort);
    EXPECT_LT(std::chrono::steady_clock::now() - start, 5s);
    EXPECT_EQ(sink.log->aborted, 1);
    EXPECT_EQ(session[0].summary().ended, "signal");
    EXPECT_FALSE(session[0].summary().error);
    expect_balance(session[0].summary());
}

TEST(SinkLink, AnAbortEndsADrainThatIsUnderWay)
{
    Gate gate;
    const SinkAt sink = fake_sink({.may_block = true, .submit = gate.hold_up(true)});
    PipelineConfig config = config_of(fake_source({.total = 4096}).uri, {sink.uri});
    config.timeout = 20s;
    Session session;
    session.add(config);
    session.prepare();
    session.start();
    EXPECT_TRUE(eventually([&] { return gate.waiting == 1; }));
    EXPECT_FALSE(session.wait(50ms)); // the sink drains
    const auto start = std::chrono::steady_clock::now();
    session.stop(Stop::abort);
    EXPECT_LT(std::chrono::steady_clock::now() - start, 5s);
}

// A worker that never returns, even if it is cancelled. The session abandons it together with
// everything that it uses.
struct LeftBehind : testing::Test {
    void leave_behind(Summary* summary = nullptr)
    {
        FakeSink::Script script{.may_block = true, .records = false};
        script.submit = [gate = gate, fails = fails](const Block& filled, int) {
            ++gate->waiting;
            pollfd fd{gate->open.fd(), POLLIN, 0};
            (void)::poll(&fd, 1, 30'000);
            const CpuRead data{filled}; // the worker still owns the block
            EXPECT_EQ(data.bytes()[4], std::byte{0});
            EXPECT_EQ(data.bytes()[8], std::byte{1});
            --gate->waiting;
            if (fails)
                throw std::runtime_error("too late");
        };
        sink = fake_sink(script);
        PipelineConfig config =
            config_of(fake_source({.total = 50'000}).uri, {sink.uri + "?hold=1"});
        config.timeout = 20ms;
        config.duration = 50ms;
        Session session;
        session.add(config);
        run(session);
        if (summary != nullptr)
            *summary = session[0].summary();
        EXPECT_EQ(gate->waiting, 1);
        if (restart) {
            EXPECT_EQ(error_of([&] { session.prepare(); }).code().value(), EBUSY);
        }
    }
    void TearDown() override
    {
        gate->open.set();
        EXPECT_TRUE(eventually([&] { return sink.log->destroyed == 1; }));
    }

    std::shared_ptr<Gate> gate = std::make_shared<Gate>();
    SinkAt sink;
    bool fails = false, restart = false;
};

TEST_F(LeftBehind, TheStreamEndsWithoutTheWorker)
{
    Summary summary;
    leave_behind(&summary);
    EXPECT_EQ(summary.ended, "error");
    EXPECT_EQ(summary.error->code().value(), ETIMEDOUT);
    EXPECT_EQ(summary.stats.sinks[0].delivered_samples, 0u);
    EXPECT_EQ(summary.sink_reports[0], "");
    EXPECT_EQ(sink.log->destroyed, 0);
}

TEST_F(LeftBehind, TheWorkersMemoryRemainsValidUntilItReturns)
{
    leave_behind(); // the session is gone
}

TEST_F(LeftBehind, TheWorkerCanFailAfterEverythingElseIsGone)
{
    fails = true;
    leave_behind();
}

TEST_F(LeftBehind, ThePipelineCannotStartAgain)
{
    restart = true;
    leave_behind();
}

} // namespace
