// SPDX-License-Identifier: MIT
#include "iio_stream/writer.hpp"
#include "support/errors.hpp"
#include "support/eventually.hpp"
#include "support/fake.hpp"
#include "support/files.hpp"
#include "support/temp_dir.hpp"

#include <complex>
#include <cstring>
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

TEST(Writer, BlocksAreDeliveredToEverySink)
{
    const SinkAt a = fake_sink({.may_block = true}), b = fake_sink();
    Writer writer(config_of("", {a.uri, b.uri}), kFormat);
    writer.start();
    for (std::uint64_t i = 0; i < 40; ++i) {
        auto block = writer.take(30s);
        ASSERT_TRUE(block);
        fill_block(*block, i * 1024);
        writer.put(std::move(*block));
    }
    const Summary summary = writer.close();
    EXPECT_EQ(summary.ended, "eof");
    EXPECT_EQ(a.log->bytes, ramp(0, 40 * 1024));
    EXPECT_EQ(b.log->bytes, ramp(0, 40 * 1024));
    EXPECT_EQ(summary.stats.sinks[1].delivered_samples, 40u * 1024);
    EXPECT_TRUE(writer.ended());
}

TEST(Writer, ASpanIsCutIntoBlocksAndTheRestIsSentAtTheEnd)
{
    const SinkAt sink = fake_sink();
    Writer writer(config_of("", {sink.uri}), kFormat);
    writer.start();
    const auto data = ramp(0, 10'000);
    const std::span<const std::byte> all{data};
    EXPECT_EQ(writer.write(all.first(4)), 4u);
    EXPECT_EQ(writer.write(all.subspan(4, 30'000)), 30'000u);
    EXPECT_EQ(writer.write(all.subspan(30'004)), data.size() - 30'004);
    EXPECT_EQ(writer.close().stats.samples, 10'000u);
    EXPECT_EQ(sink.log->bytes, data);
    EXPECT_EQ(sink.log->blocks, 10u); // nine full blocks and the rest
}

TEST(Writer, TheFirstBlockThatIsTakenOrWrittenStartsTheStream)
{
    const SinkAt taken = fake_sink(), written = fake_sink();
    Writer by_take(config_of("", {taken.uri}), kFormat),
        by_write(config_of("", {written.uri}), kFormat);
    for (std::uint64_t i = 0; i < 20; ++i) { // more blocks than the pool has
        auto block = by_take.take(30s);
        ASSERT_TRUE(block);
        fill_block(*block, i * 1024);
        by_take.put(std::move(*block));
    }
    EXPECT_EQ(by_take.close().ended, "eof");
    EXPECT_EQ(taken.log->bytes, ramp(0, 20 * 1024));
    EXPECT_EQ(by_write.write(ramp(0, 20 * 1024), 30s), 20 * kBlock);
    EXPECT_EQ(by_write.close().ended, "eof");
    EXPECT_EQ(written.log->bytes, ramp(0, 20 * 1024));
}

TEST(Writer, ClosingCreatesAFileEvenIfNothingWasWritten)
{
    const TempDir dir;
    PipelineConfig config;
    config.sinks = {dir / "a.ci16"};
    Writer writer(config, kFormat);
    const Summary summary = writer.close();
    EXPECT_FALSE(summary.error);
    EXPECT_EQ(contents(dir / "a.ci16"), ramp(0, 0));
    EXPECT_EQ(writer.close().ended, summary.ended); // a second close() does nothing
}

TEST(Writer, TheOutcomeShowsWhyThereIsNoBlock)
{
    const SinkAt sink = fake_sink({.keeps = true});
    Writer writer(config_of("", {sink.uri}), kFormat);
    while (auto block = writer.take(50ms))
        writer.put(std::move(*block));
    EXPECT_EQ(writer.take(0ms).outcome(), Outcome::timeout);
    writer.stop();
    sink.log->let_go(100);
    EXPECT_EQ(writer.take(30s).outcome(), Outcome::ended);
}

TEST(Writer, OnlyValuesOfTheFormatsTypeAreWritten)
{
    const SinkAt sink = fake_sink();
    Writer writer(config_of("", {sink.uri}), kFormat);
    std::vector<std::complex<std::int16_t>> samples(3000);
    for (std::size_t i = 0; i < samples.size(); ++i)
        samples[i] = {static_cast<std::int16_t>(i), static_cast<std::int16_t>(-1)};
    EXPECT_EQ(writer.write(samples, 30s), 3000u);
    expect_usage_error([&] { (void)writer.write(std::vector<std::complex<float>>(10)); },
                       "std::complex<float>", "ci16_le, std::complex<std::int16_t>");
    (void)writer.close();
    ASSERT_EQ(sink.log->bytes.size(), 12'000u);
    EXPECT_EQ(std::memcmp(sink.log->bytes.data(), samples.data(), 12'000), 0);
}

TEST(Writer, ABlockIsFilledWithValuesOfItsType)
{
    const SinkAt sink = fake_sink();
    Writer writer(config_of("", {sink.uri}), kFormat);
    auto block = writer.take(30s);
    ASSERT_TRUE(block);
    EXPECT_EQ(block->samples(), 1024u);
    for (auto& sample : block->as<std::complex<std::int16_t>>())
        sample = {0x0102, 0x0304};
    expect_usage_error([&] { (void)block->as<std::complex<float>>(); }, "std::complex<float>",
                       "ci16_le");
    writer.put(std::move(*block), 3);
    (void)writer.close();
    const std::vector<std::uint8_t> wanted{2, 1, 4, 3, 2, 1, 4, 3, 2, 1, 4, 3};
    ASSERT_EQ(sink.log->bytes.size(), wanted.size());
    EXPECT_EQ(std::memcmp(sink.log->bytes.data(), wanted.data(), wanted.size()), 0);
}

TEST(Writer, TheErrorStatesHowManyBlocksTheCallerHolds)
{
    Writer writer(config_of("", {fake_sink().uri}), kFormat);
    writer.start();
    std::vector<EmptyBlock> kept;
    for (int i = 0; i < 8; ++i)
        kept.push_back(std::move(*writer.take(30s)));
    EXPECT_EQ(writer.held(), 8u);
    const Error error = error_of([&] { (void)writer.take(10ms); });
    EXPECT_EQ(error.code().value(), ENOBUFS);
    EXPECT_NE(std::string(error.what()).find("all 8 blocks"), std::string::npos) << error.what();
    writer.put(std::move(kept.back()), 0);
    kept.pop_back();
    EXPECT_EQ(writer.held(), 7u);
    EXPECT_TRUE(writer.take(30s));
}

TEST(Writer, ADiscardedBlockIsReturned)
{
    Writer writer(config_of("", {fake_sink().uri}), kFormat);
    writer.start();
    for (int i = 0; i < 20; ++i)
        EXPECT_TRUE(writer.take(30s)) << i;
}

TEST(Writer, TheWaitForABlockedSinkTimesOut)
{
    const SinkAt sink = fake_sink({.keeps = true});
    Writer writer(config_of("", {sink.uri}), kFormat);
    writer.start();
    const auto data = ramp(0, 20 * 1024);
    const std::size_t done = writer.write(data, 200ms);
    EXPECT_EQ(done, 8 * kBlock);
    sink.log->let_go(100);
    EXPECT_EQ(writer.write(std::span(data).subspan(done), 30s), data.size() - done);
    EXPECT_EQ(writer.close().stats.sinks[0].delivered_samples, 20u * 1024);
    EXPECT_EQ(sink.log->bytes, data);
}

TEST(Writer, TheErrorOfAFailingSinkReachesTheWriter)
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
    EXPECT_EQ(fault_of(writer.close()), Fault::storage);
}

TEST(Writer, AWriterHasEndedOnlyAfterTakeHasThrownTheError)
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

TEST(Writer, ForeignBlocksAndPartialSamplesAreRefused)
{
    Writer writer(config_of("", {fake_sink().uri}), kFormat);
    Writer other(config_of("", {fake_sink().uri}), kFormat);
    writer.start();
    expect_usage_error([&] { writer.put(std::move(*other.take()), 1); }, "another stream",
                       "take()");
    expect_usage_error([&] { writer.put(std::move(*writer.take(30s)), 1025); }, "1025 samples",
                       "1024");
    expect_usage_error([&] { (void)writer.write(ramp(0, 2, 1)); }, "2 bytes", "");
}

TEST(Writer, ABlockOfThePreviousRunIsRefused)
{
    Writer writer(config_of("", {fake_sink().uri}), kFormat);
    writer.start();
    auto old = writer.take(30s);
    writer.start();
    expect_usage_error([&] { writer.put(std::move(*old), 1); }, "another stream", "take()");
    EXPECT_TRUE(writer.take(30s));
}

TEST(Writer, TheFdServesAPollLoop)
{
    const SinkAt sink = fake_sink({.may_block = true});
    Writer writer(config_of("", {sink.uri}), kFormat);
    writer.start();
    for (std::uint64_t blocks = 0; blocks < 500;) {
        pollfd request{writer.fd(), POLLIN, 0};
        ASSERT_EQ(::poll(&request, 1, 30'000), 1) << blocks;
        if (auto block = writer.take(0ms)) {
            fill_block(*block, 1024 * blocks++);
            writer.put(std::move(*block));
        }
    }
    (void)writer.close();
    EXPECT_EQ(sink.log->bytes, ramp(0, 500 * 1024));
}

TEST(Writer, AWriterCanWriteAFile)
{
    const TempDir dir;
    const std::string path = dir / "a.ci16";
    PipelineConfig config;
    config.sinks = {path};
    Writer writer(config, kFormat);
    writer.start();
    writer.write(ramp(0, 300'000));
    EXPECT_EQ(fault_of(writer.close()), std::nullopt);
    EXPECT_EQ(contents(path), ramp(0, 300'000));
}

TEST(Writer, ClosingAWriterThatIsBeingStoppedDoesNotThrow)
{
    for (int i = 0; i < 200; ++i) {
        Writer writer(config_of("", {"null:"}), kFormat);
        writer.write(ramp(0, 100)); // less than a block, which close() sends
        writer.stop();              // the writer's thread detects it now or soon
        if (i % 2 != 0)
            std::this_thread::yield();
        EXPECT_NO_THROW((void)writer.close());
    }
}

TEST(Writer, AWriterCanBeDestroyedAtAnyMoment)
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
