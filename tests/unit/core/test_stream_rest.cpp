// SPDX-License-Identifier: MIT
// Samples that a source has received reach the sinks, whatever ends the stream. They arrive soon,
// even if more samples come slowly. The source is a FIFO that stays open, so it never ends by
// itself.
#include "core/memory/fill_deadline.hpp"
#include "iio_stream/reader.hpp"
#include "support/eventually.hpp"
#include "support/fake.hpp"
#include "support/files.hpp"
#include "support/temp_dir.hpp"

#include <algorithm>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;
using namespace std::chrono_literals;

constexpr std::size_t kSamples = 1500; ///< a block of 1024 and a part of another block

class StreamRest : public testing::Test {
protected:
    StreamRest()
    {
        EXPECT_EQ(::mkfifo(path_.c_str(), 0600), 0);
        fd_ = ::open(path_.c_str(), O_RDWR | O_CLOEXEC);
    }
    ~StreamRest() override { ::close(fd_); }

    void send(const std::vector<std::byte>& bytes) const
    {
        EXPECT_EQ(::write(fd_, bytes.data(), bytes.size()), std::ssize(bytes));
    }
    PipelineConfig config(const std::vector<std::string>& sinks,
                          const std::string& options = "") const
    {
        return config_of("file:" + path_ + "?format=ci16_le" + options, sinks);
    }

    /// Starts a stream to the sink and waits until the whole block has arrived.
    void start(Session& session) const
    {
        session.add(config({sink_.uri}));
        session.prepare();
        send(ramp(0, kSamples));
        session.start();
        ASSERT_TRUE(eventually([&] { return sink_.log->samples >= 1024; }));
    }

    const TempDir dir_;
    const std::string path_ = dir_ / "fifo";
    int fd_ = -1;
    const SinkAt sink_ = fake_sink();
};

TEST_F(StreamRest, AStopDeliversTheSamplesThatHaveArrived)
{
    Session session;
    start(session);
    session.stop();
    EXPECT_EQ(session[0].summary().ended, "signal");
    EXPECT_EQ(sink_.log->bytes, ramp(0, kSamples));
    EXPECT_EQ(session[0].summary().stats.samples, kSamples);
}

TEST_F(StreamRest, AnAbortedStreamDropsTheRest)
{
    Session session;
    start(session);
    session.stop(Stop::abort);
    EXPECT_EQ(session[0].summary().stats.samples, 1024u);
}

TEST_F(StreamRest, ADurationByTheClockDeliversTheRest)
{
    PipelineConfig limited = config({sink_.uri});
    limited.duration = 50ms; // before a slow source would deliver a part of a block
    send(ramp(0, kSamples));
    EXPECT_EQ(run(limited).ended, "duration");
    EXPECT_EQ(sink_.log->bytes, ramp(0, kSamples));
}

TEST_F(StreamRest, ADurationAtAKnownRateDeliversTheSamplesThatHaveArrived)
{
    for (const std::size_t wanted : {2000u, 1200u}) { // more samples than have arrived, or fewer
        const SinkAt sink = fake_sink();
        PipelineConfig limited = config({sink.uri}, "&rate=20000");
        limited.duration = std::chrono::microseconds(50 * wanted);
        send(ramp(0, kSamples));
        EXPECT_EQ(run(limited).ended, "duration");
        EXPECT_EQ(sink.log->bytes, ramp(0, std::min(wanted, kSamples)));
    }
}

TEST_F(StreamRest, ALimitOfSamplesIsExactEvenIfTheyArriveSlowly)
{
    PipelineConfig limited = config({sink_.uri});
    limited.samples = 3000;
    Session session;
    session.add(limited);
    session.prepare();
    session.start();
    send(ramp(0, kSamples));
    ASSERT_TRUE(eventually([&] { return sink_.log->samples == kSamples; }));
    send(ramp(kSamples, 2000));
    ASSERT_TRUE(session.wait(30s));
    EXPECT_EQ(session[0].summary().ended, "samples");
    EXPECT_EQ(sink_.log->bytes, ramp(0, 3000));
}

TEST_F(StreamRest, NoMoreSamplesThanTheLimitAreDelivered)
{
    PipelineConfig limited = config({sink_.uri});
    limited.samples = 1200;
    send(ramp(0, kSamples));
    EXPECT_EQ(run(limited).ended, "samples");
    EXPECT_EQ(sink_.log->bytes, ramp(0, 1200));
}

TEST_F(StreamRest, AClosedReadersOtherSinksGetTheRest)
{
    Reader reader(config({sink_.uri}));
    send(ramp(0, kSamples));
    ASSERT_TRUE(reader.next(30s));
    const Summary summary = reader.close();
    EXPECT_EQ(sink_.log->bytes, ramp(0, kSamples));
    EXPECT_EQ(summary.stats.samples, kSamples);
}

TEST_F(StreamRest, AReaderCanTakeTheRestAfterAStop)
{
    Reader reader(config({}));
    send(ramp(0, kSamples));
    ASSERT_TRUE(reader.next(30s));
    reader.stop();
    const auto rest = reader.next(30s);
    ASSERT_TRUE(rest);
    EXPECT_EQ(rest->bytes(), 4 * (kSamples - 1024));
    EXPECT_TRUE(reader.next(30s).ended());
}

TEST_F(StreamRest, NextReturnsTheFirstSamplesOfASlowSource)
{
    Reader reader(config({}));
    send(ramp(0, 100));
    const auto first = reader.next(30s);
    ASSERT_TRUE(first);
    EXPECT_EQ(first->bytes(), 400u);
    send(ramp(100, 5));
    const auto second = reader.next(30s);
    ASSERT_TRUE(second);
    EXPECT_EQ(second->sample_index(), 100u);
    EXPECT_EQ(second->bytes(), 20u);
}

// A device plays multiples of its bus width, and pads the rest of a word with zeros.
TEST_F(StreamRest, SamplesBeyondAMultipleOfTheBusWidthComeLater)
{
    Reader reader(config({}, "&rate=1M"));
    send(ramp(0, 100));
    const auto first = reader.next(30s);
    ASSERT_TRUE(first);
    EXPECT_EQ(first->bytes(), 384u);
    const auto rest = reader.next(30s);
    ASSERT_TRUE(rest);
    EXPECT_EQ(rest->sample_index(), 96u);
    EXPECT_EQ(rest->bytes(), 16u);
}

TEST_F(StreamRest, AnIncompleteSampleWaitsForItsRest)
{
    Session session;
    session.add(config({sink_.uri}));
    session.prepare();
    session.start();
    const auto all = ramp(0, 4);
    const auto part = [&](int from, int to) {
        return std::vector<std::byte>(all.begin() + from, all.begin() + to);
    };
    send(part(0, 10));
    ASSERT_TRUE(eventually([&] { return sink_.log->samples == 2; }));
    send(part(10, 16));
    ASSERT_TRUE(eventually([&] { return sink_.log->samples == 4; }));
    send(part(0, 3)); // these bytes are discarded
    session.stop();
    EXPECT_FALSE(session[0].summary().error);
    EXPECT_EQ(sink_.log->bytes, all);
}

TEST_F(StreamRest, ASinkWithoutRoomAlsoGetsTheRest)
{
    const SinkAt holding = fake_sink({.keeps = true});
    Session session;
    session.add(config({holding.uri + "?hold=1"}));
    session.prepare();
    send(ramp(0, 2048 + 100));
    session.start();
    ASSERT_TRUE(eventually([&] { return holding.log->samples >= 1024; }));
    session[0].request_stop();
    holding.log->let_go(3);
    ASSERT_TRUE(session.wait(30s));
    EXPECT_EQ(holding.log->bytes, ramp(0, 2048 + 100));
}

// With an earlier deadline, the blocks of a source that keeps its rate would be split.
TEST(FillDeadline, TheDeadlineIsLaterThanTheTimeOfABlockButAtMostASecond)
{
    Format format = Format::parse("ci16_le");
    for (const double rate : {0.0, 100.0, 2048.0, 1e6}) {
        format.sample_rate = rate;
        const BlockPool pool({.kind = MemoryKind::pages, .heap = {}, .fds = {}}, kBlock, 2,
                             CpuUse::mapped);
        detail::FillDeadline deadline;
        deadline.reset(format, pool);
        EXPECT_EQ(deadline.until_ns(), 0);
        EXPECT_EQ(deadline.due(), 0u);
        const std::int64_t before = sys::monotonic_ns();
        deadline.filled(128);
        const std::int64_t until = deadline.until_ns(), after = sys::monotonic_ns();
        const double block_ns = rate == 0 ? 1e9 : std::min(1e9 * 1024 / rate, 1e9);
        EXPECT_GE(static_cast<double>(until - before), block_ns);
        EXPECT_LE(until - after, 1'000'000'000);
        deadline.filled(256); // the time counts from the first sample
        EXPECT_EQ(deadline.until_ns(), until);
        deadline.filled(124); // no device can play these bytes without adding zeros
        EXPECT_GE(deadline.until_ns() - before, 1'000'000'000);
        EXPECT_LE(deadline.until_ns() - after, 1'000'000'000);
        deadline.filled(0);
        EXPECT_EQ(deadline.until_ns(), 0);
    }
}

TEST(SimRest, AStopDeliversTheSamplesGeneratedSoFar)
{
    const SinkAt sink = fake_sink();
    PipelineConfig slow = config_of("sim:?pattern=ramp&rate=10k", {sink.uri});
    slow.block_size = 4 << 20;
    Session session;
    session.add(slow);
    session.prepare();
    session.start();
    EXPECT_FALSE(session.wait(50ms));
    session.stop();
    EXPECT_GE(sink.log->samples, 500u);
    EXPECT_EQ(sink.log->bytes, ramp(0, sink.log->samples));
}

TEST(SimRest, ASlowSourceDeliversAPartOfABlock)
{
    PipelineConfig slow = config_of("sim:?rate=1000", {});
    slow.block_size = 4 << 20;
    Reader reader(slow);
    std::uint64_t samples = 0;
    for (int block = 0; block < 2; ++block) {
        const auto next = reader.next(30s);
        ASSERT_TRUE(next);
        EXPECT_EQ(next->sample_index(), samples);
        EXPECT_GE(next->bytes(), 4000u); // one second
        samples += next->bytes() / 4;
    }
}

} // namespace
