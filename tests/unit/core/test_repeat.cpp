// SPDX-License-Identifier: MIT
// Sinks that repeat their samples when the source has no more.
#include "iio_stream/writer.hpp"
#include "support/errors.hpp"
#include "support/eventually.hpp"
#include "support/fake.hpp"

#include <gtest/gtest.h>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;
using namespace std::chrono_literals;

struct Repeat : testing::TestWithParam<bool> {
    SinkAt sink(std::function<void()> service = {})
    {
        FakeSink::Script script;
        script.repeats = true;
        script.may_block = GetParam();
        script.flush = [this] { flushed = true; };
        script.service = std::move(service);
        return fake_sink(std::move(script));
    }

    std::atomic<bool> flushed{false};
};

// The stream only waits, so the CPU time is a small part of its duration.
void expect_idle(const Summary& summary)
{
    EXPECT_LT(summary.cpu.user_seconds + summary.cpu.system_seconds, 0.5 * summary.stats.seconds);
}

TEST_P(Repeat, TheEndOfTheSourceDoesNotEndTheStream)
{
    const SourceAt source = fake_source({.total = 5000});
    const SinkAt at = sink();
    Session session;
    session.add(config_of(source.uri, {at.uri}));
    session.prepare();
    session.start();
    EXPECT_TRUE(eventually([&] { return flushed.load(); }));
    EXPECT_FALSE(session.wait(50ms));
    EXPECT_EQ(at.log->drained, 0);
    EXPECT_EQ(source.log->stopped, 1); // the blocks of the source are free
    session.stop();
    const Summary summary = session[0].summary();
    EXPECT_EQ(summary.ended, "signal");
    EXPECT_EQ(summary.stats.sinks[0].delivered_samples, 5000u);
    EXPECT_EQ(at.log->bytes, ramp(0, 5000));
    EXPECT_EQ(at.log->drained, 1);
    EXPECT_EQ(source.log->stopped, 1);
}

TEST_P(Repeat, TheDurationEndsTheRepetition)
{
    const SourceAt source = fake_source({.total = 5000});
    const SinkAt at = sink();
    PipelineConfig config = config_of(source.uri, {at.uri});
    config.duration = 300ms;
    const Summary summary = run(config);
    EXPECT_FALSE(summary.error);
    EXPECT_EQ(summary.ended, "duration");
    EXPECT_GE(summary.stats.seconds, 0.3);
    expect_idle(summary);
    EXPECT_TRUE(flushed);
}

TEST_P(Repeat, ASampleLimitIsThePeriodAndNotTheTotal)
{
    const SinkAt at = sink();
    PipelineConfig config = config_of("sim:?rate=0", {at.uri});
    config.samples = 3000;
    config.duration = 300ms;
    const Summary summary = run(config);
    EXPECT_EQ(summary.ended, "duration");
    EXPECT_EQ(summary.stats.sinks[0].delivered_samples, 3000u);
    EXPECT_TRUE(flushed);
    expect_idle(summary);
}

TEST_P(Repeat, ALimitThatCannotEndTheStreamIsRefused)
{
    PipelineConfig config = config_of("sim:?rate=0", {sink().uri});
    config.samples = 3000;
    expect_usage_error([&] { run(config); }, "never end it", "--duration");
    config = config_of("sim:?rate=0", {sink().uri});
    config.bytes = 4000;
    expect_usage_error([&] { run(config); }, "never end it", "--duration");
}

TEST_P(Repeat, APeriodLongerThanTheSourceIsAnError)
{
    const SourceAt source = fake_source({.total = 5000});
    const SinkAt at = sink();
    PipelineConfig config = config_of(source.uri, {at.uri});
    config.samples = 5001;
    config.duration = 10s;
    const Summary summary = run(config);
    EXPECT_EQ(fault_of(summary), Fault::usage);
    ASSERT_TRUE(summary.error);
    EXPECT_NE(std::string(summary.error->what()).find("has only 5000"), std::string::npos);
    EXPECT_LT(summary.stats.seconds, 5);
}

TEST_P(Repeat, AFailureWhileRepeatingEndsTheStream)
{
    const SourceAt source = fake_source({.total = 5000});
    const SinkAt at = sink([this] {
        if (flushed)
            throw Error(Fault::device, EIO, "play", "fake");
    });
    const Summary summary = run(config_of(source.uri, {at.uri}));
    EXPECT_EQ(summary.ended, "error");
    EXPECT_EQ(fault_of(summary), Fault::device);
}

TEST_P(Repeat, OtherSinksGetTheirSamplesAndWait)
{
    const SourceAt source = fake_source({.total = 5000});
    const SinkAt at = sink(), other = fake_sink();
    PipelineConfig config = config_of(source.uri, {at.uri, other.uri});
    config.duration = 100ms;
    const Summary summary = run(config);
    EXPECT_EQ(summary.ended, "duration");
    EXPECT_EQ(other.log->bytes, ramp(0, 5000));
    EXPECT_EQ(other.log->drained, 1);
}

TEST_P(Repeat, AnEndedWritersSamplesRepeatUntilItIsClosed)
{
    const SinkAt at = sink();
    Writer writer(config_of("", {at.uri}), Format::parse("ci16_le"));
    for (int stream = 0; stream < 2; ++stream) {
        at.log->bytes.clear();
        flushed = false;
        writer.start();
        const auto data = ramp(0, 5000);
        EXPECT_EQ(writer.write(data), data.size());
        writer.end();
        EXPECT_TRUE(eventually([&] { return flushed.load(); }));
        expect_usage_error([&] { (void)writer.take(); }, "end()", "start()");
        const Summary summary = writer.close();
        EXPECT_FALSE(summary.error);
        EXPECT_EQ(summary.stats.sinks[0].delivered_samples, 5000u);
        EXPECT_EQ(at.log->bytes, data);
        EXPECT_EQ(at.log->drained, stream + 1);
    }
}

TEST_P(Repeat, AWriterThatIsClosedAtOnceDeliversEverything)
{
    const SinkAt at = sink();
    Writer writer(config_of("", {at.uri}), Format::parse("ci16_le"));
    writer.start();
    const auto data = ramp(0, 20'000);
    EXPECT_EQ(writer.write(data), data.size());
    EXPECT_EQ(writer.close().stats.sinks[0].delivered_samples, 20'000u);
    EXPECT_EQ(at.log->bytes, data);
}

INSTANTIATE_TEST_SUITE_P(OnEitherThread, Repeat, testing::Values(false, true),
                         [](const auto& of) { return of.param ? "worker" : "source"; });

} // namespace
