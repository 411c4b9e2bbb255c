// SPDX-License-Identifier: MIT
#include "iio_stream/stream.hpp"
#include "support/errors.hpp"
#include "support/eventually.hpp"
#include "support/fake.hpp"
#include "support/files.hpp"
#include "support/temp_dir.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <thread>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;
using namespace std::chrono_literals;

const Format kFormat = Format::parse("ci16_le");

void fill_block(EmptyBlock& block, std::uint64_t first)
{
    const auto data = ramp(first, block.capacity() / 4);
    const CpuWrite out{block};
    std::copy(data.begin(), data.end(), out.bytes().begin());
}

TEST(Writer, BringsBlocksToEverySink)
{
    const SinkAt a = fake_sink({.may_block = true}), b = fake_sink();
    Writer writer(config_of("", {a.uri, b.uri}), kFormat);
    writer.start();
    for (std::uint64_t i = 0; i < 40; ++i) {
        auto block = writer.take(30s);
        ASSERT_TRUE(block);
        fill_block(*block, i * 1024);
        writer.put(std::move(*block), kBlock);
    }
    const Summary summary = writer.finish();
    EXPECT_EQ(summary.ended, "eof");
    EXPECT_EQ(a.log->bytes, ramp(0, 40 * 1024));
    EXPECT_EQ(b.log->bytes, ramp(0, 40 * 1024));
    EXPECT_EQ(summary.stats.sinks[1].delivered_samples, 40u * 1024);
    EXPECT_TRUE(writer.ended());
}

TEST(Writer, CutsASpanIntoBlocksAndSendsTheRestAtTheEnd)
{
    const SinkAt sink = fake_sink();
    Writer writer(config_of("", {sink.uri}), kFormat);
    writer.start();
    const auto data = ramp(0, 10'000);
    const std::span<const std::byte> all{data};
    EXPECT_EQ(writer.write(all.first(4)), 4u);
    EXPECT_EQ(writer.write(all.subspan(4, 30'000)), 30'000u);
    EXPECT_EQ(writer.write(all.subspan(30'004)), data.size() - 30'004);
    EXPECT_EQ(writer.finish().stats.samples, 10'000u);
    EXPECT_EQ(sink.log->bytes, data);
    EXPECT_EQ(sink.log->blocks, 10u); // nine full ones and the rest
}

TEST(Writer, BlocksCanBeFilledBeforeTheStart)
{
    const SinkAt sink = fake_sink();
    Writer writer(config_of("", {sink.uri}), kFormat);
    std::uint64_t samples = 0;
    while (auto block = writer.take()) {
        fill_block(*block, samples);
        samples += 1024;
        writer.put(std::move(*block), kBlock);
    }
    EXPECT_EQ(samples, 8u * 1024);
    EXPECT_EQ(sink.log->samples, 0u);
    writer.start();
    (void)writer.finish();
    EXPECT_EQ(sink.log->bytes, ramp(0, samples));
}

TEST(Writer, SaysHowManyBlocksTheCallerKeepsWhenNoneIsLeft)
{
    Writer writer(config_of("", {fake_sink().uri}), kFormat);
    writer.start();
    std::vector<EmptyBlock> kept;
    for (int i = 0; i < 8; ++i)
        kept.push_back(*writer.take(30s));
    EXPECT_EQ(writer.held(), 8u);
    const Error error = error_of([&] { (void)writer.take(10ms); });
    EXPECT_EQ(error.code().value(), ENOBUFS);
    EXPECT_NE(std::string(error.what()).find("all 8 blocks"), std::string::npos) << error.what();
    writer.put(std::move(kept.back()), 0);
    kept.pop_back();
    EXPECT_EQ(writer.held(), 7u);
    EXPECT_TRUE(writer.take(30s));
}

TEST(Writer, ABlockThatIsThrownAwayComesBack)
{
    Writer writer(config_of("", {fake_sink().uri}), kFormat);
    writer.start();
    for (int i = 0; i < 20; ++i)
        EXPECT_TRUE(writer.take(30s)) << i;
}

TEST(Writer, ABlockedSinkIsWaitedForInTime)
{
    const SinkAt sink = fake_sink({.keeps = true});
    Writer writer(config_of("", {sink.uri}), kFormat);
    writer.start();
    const auto data = ramp(0, 20 * 1024);
    const std::size_t done = writer.write(data, 200ms);
    EXPECT_EQ(done, 8 * kBlock);
    sink.log->let_go(100);
    EXPECT_EQ(writer.write(std::span(data).subspan(done), 30s), data.size() - done);
    EXPECT_EQ(writer.finish().stats.sinks[0].delivered_samples, 20u * 1024);
    EXPECT_EQ(sink.log->bytes, data);
}

TEST(Writer, AFailingSinkIsToldToWhoeverWrites)
{
    const SinkAt sink = fake_sink({.fail_at = 3000});
    Writer writer(config_of("", {sink.uri}), kFormat);
    writer.start();
    const auto data = ramp(0, 1024);
    const auto write = [&] {
        for (int i = 0; i < 1000; ++i)
            (void)writer.write(data, 30s);
    };
    EXPECT_EQ(error_of(write).code().value(), EIO);
    EXPECT_EQ(error_of([&] { (void)writer.take(30s); }).code().value(), EIO);
    EXPECT_EQ(writer.finish().exit_status(), 5);
}

TEST(Writer, HasNotEndedBeforeTakeHasThrownWhatEndedIt)
{
    const SinkAt sink =
        fake_sink({.fail_at = 2000, .stop = [](Stop) { std::this_thread::sleep_for(300ms); }});
    Writer writer(config_of("", {sink.uri}), kFormat);
    writer.start();
    (void)writer.write(ramp(0, 2 * 1024), 30s);
    const auto look = [&] {
        while (!writer.ended())
            (void)writer.take(10ms);
    };
    EXPECT_EQ(error_of(look).code().value(), EIO);
    EXPECT_TRUE(writer.ended());
}

TEST(Writer, StopFromAnotherThreadEndsTheWait)
{
    const SinkAt sink = fake_sink({.keeps = true});
    Writer writer(config_of("", {sink.uri}), kFormat);
    writer.start();
    while (writer.write(ramp(0, 1024), 50ms) != 0)
        ;
    std::thread other([&] {
        std::this_thread::sleep_for(20ms);
        sink.log->let_go(100);
        writer.stop();
    });
    while (writer.take(30s))
        ;
    other.join();
    EXPECT_TRUE(writer.ended());
    EXPECT_EQ(error_of([&] { (void)writer.write(ramp(0, 1), 1s); }).code().value(), EPIPE);
}

TEST(Writer, RefusesWhatIsNotItsOwnOrNotWhole)
{
    Writer writer(config_of("", {fake_sink().uri}), kFormat);
    Writer other(config_of("", {fake_sink().uri}), kFormat);
    writer.start();
    expect_usage_error([&] { writer.put(*other.take(), 4); }, "another stream", "take()");
    expect_usage_error([&] { writer.put(*writer.take(30s), 3); }, "3 bytes", "samples of 4 bytes");
    expect_usage_error([&] { writer.put(*writer.take(30s), kBlock + 4); }, "4100 bytes", "4096");
    expect_usage_error([&] { (void)writer.write(ramp(0, 2, 1)); }, "2 bytes", "");
}

TEST(Writer, ABlockOfItsLastRunIsRefusedToo)
{
    Writer writer(config_of("", {fake_sink().uri}), kFormat);
    writer.start();
    auto old = writer.take(30s);
    writer.start();
    expect_usage_error([&] { writer.put(std::move(*old), 4); }, "another stream", "take()");
    EXPECT_TRUE(writer.take(30s));
}

TEST(Writer, ItsFdServesAPollLoop)
{
    const SinkAt sink = fake_sink({.may_block = true});
    Writer writer(config_of("", {sink.uri}), kFormat);
    writer.start();
    for (std::uint64_t blocks = 0; blocks < 500;) {
        pollfd request{writer.fd(), POLLIN, 0};
        ASSERT_EQ(::poll(&request, 1, 30'000), 1) << blocks;
        if (auto block = writer.take(0ms)) {
            fill_block(*block, 1024 * blocks++);
            writer.put(std::move(*block), kBlock);
        }
    }
    (void)writer.finish();
    EXPECT_EQ(sink.log->bytes, ramp(0, 500 * 1024));
}

TEST(Writer, WritesAFile)
{
    const TempDir dir;
    const std::string path = dir / "a.ci16";
    PipelineConfig config;
    config.sinks = {path};
    Writer writer(config, kFormat);
    writer.start();
    writer.write(ramp(0, 300'000));
    EXPECT_EQ(writer.finish().exit_status(), 0);
    EXPECT_EQ(contents(path), ramp(0, 300'000));
}

TEST(Writer, CanBeDestroyedAtAnyMoment)
{
    for (int i = 0; i < 30; ++i) {
        Writer writer(config_of("", {fake_sink({.may_block = i % 2 == 0}).uri}), kFormat);
        std::optional<EmptyBlock> kept;
        if (i % 3 == 0)
            kept = writer.take();
        writer.start();
        (void)writer.write(ramp(0, 3000), 30s);
    }
}

} // namespace
