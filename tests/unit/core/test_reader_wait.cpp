// SPDX-License-Identifier: MIT
// The waits of a Reader for blocks, and a Reader that several threads use.
#include "core/base/ring.hpp"
#include "iio_stream/reader.hpp"
#include "support/errors.hpp"
#include "support/eventually.hpp"
#include "support/readable.hpp"
#include "support/reading.hpp"

#include <atomic>
#include <gtest/gtest.h>
#include <poll.h>
#include <thread>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;
using namespace std::chrono_literals;

TEST(ReaderWait, TheOutcomeShowsWhyThereIsNoBlock)
{
    Reader reader(reading({.silent_at = 1024, .unhurried = true}));
    EXPECT_EQ(reader.next(30s).outcome(), Outcome::block);
    EXPECT_TRUE(reader.next(10ms).timed_out());
    reader.stop();
    EXPECT_TRUE(reader.next(30s).ended());
}

TEST(ReaderWait, ManyThreadsCanReleaseBlocksThatOneThreadTook)
{
    PipelineConfig config = reading({});
    config.samples = 1024 * 2000;
    Reader reader(config);
    reader.start();
    std::atomic<std::uint64_t> samples{0};
    std::vector<std::thread> threads;
    detail::Ring ring_a(16), ring_b(16);
    std::atomic<bool> over{false};
    for (detail::Ring* ring : {&ring_a, &ring_b})
        threads.emplace_back([&, ring] {
            for (;;) {
                const bool last = over;
                if (const auto block = ring->pop())
                    samples += bytes_in(*block).size() / 4;
                else if (last)
                    return;
                else
                    std::this_thread::yield();
            }
        });
    bool odd = false;
    while (auto block = reader.next(30s))
        ((odd = !odd) ? ring_a : ring_b).push(std::move(*block));
    over = true;
    for (std::thread& thread : threads)
        thread.join();
    EXPECT_EQ(samples, 1024u * 2000);
    EXPECT_EQ(reader.close().ended, "samples");
}

TEST(ReaderWait, TheErrorStatesHowManyBlocksTheCallerHolds)
{
    PipelineConfig config = reading({});
    config.timeout = 50ms;
    Reader reader(config);
    reader.start();
    std::vector<Block> kept;
    for (int i = 0; i < 8; ++i)
        kept.push_back(std::move(*reader.next()));
    EXPECT_EQ(reader.held(), 8u);
    const Error error = error_of([&] { (void)reader.next(); });
    EXPECT_EQ(error.code().value(), ENOBUFS);
    EXPECT_NE(std::string(error.what()).find("all 8 blocks"), std::string::npos) << error.what();
    kept.erase(kept.begin());
    auto next = reader.next(30s); // the stream continues as soon as one block is returned
    ASSERT_TRUE(next);
    EXPECT_EQ(bytes_in(*next), ramp(8 * 1024, 1024));
}

TEST(ReaderWait, AWaitTimesOutAndTheStreamContinues)
{
    Reader reader(reading({.silent_at = 1024, .unhurried = true}));
    reader.start();
    ASSERT_TRUE(reader.next(30s));
    EXPECT_FALSE(reader.next(10ms));
    EXPECT_FALSE(reader.next(0ms));
    EXPECT_FALSE(reader.ended());
}

TEST(ReaderWait, StopFromAnotherThreadEndsTheWaitAndKeepsReceivedBlocks)
{
    Reader reader(reading({.silent_at = 3 * 1024, .unhurried = true}));
    reader.start();
    ASSERT_TRUE(eventually([&] { return reader.stats().samples == 3 * 1024; }));
    std::thread other([&] {
        std::this_thread::sleep_for(20ms);
        reader.stop();
    });
    int blocks = 0;
    while (auto block = reader.next(30s))
        ++blocks;
    other.join();
    EXPECT_EQ(blocks, 3);
    EXPECT_TRUE(reader.ended());
    EXPECT_EQ(reader.close().ended, "signal");
}

TEST(ReaderWait, TheFdServesAPollLoopThatTakesOneBlockAtATime)
{
    PipelineConfig config = reading({});
    config.samples = 1024 * 500;
    Reader reader(config);
    EXPECT_FALSE(readable(reader.fd()));
    reader.start();
    std::uint64_t samples = 0;
    while (!reader.ended()) {
        pollfd request{reader.fd(), POLLIN, 0};
        ASSERT_EQ(::poll(&request, 1, 30'000), 1) << samples;
        if (auto block = reader.next(0ms))
            samples += block->bytes() / 4;
    }
    EXPECT_EQ(samples, 1024u * 500);
}

TEST(ReaderWait, BlocksThatAreNotTakenAreDroppedOnRequest)
{
    const SinkAt file = fake_sink({.records = false});
    PipelineConfig config = reading({});
    config.sinks = {file.uri};
    config.samples = 1024 * 100;
    config.on_full = OnFull::drop;
    Reader reader(config);
    reader.start();
    ASSERT_TRUE(eventually([&] { return file.log->samples == 1024 * 100; }));
    std::uint64_t taken = 0;
    while (auto block = reader.next(30s))
        taken += block->bytes() / 4;
    const SinkStats stats = reader.close().stats.sinks[1];
    EXPECT_EQ(taken, stats.delivered_samples);
    EXPECT_EQ(stats.delivered_samples + stats.dropped_samples, 1024u * 100);
    EXPECT_GT(stats.dropped_samples, 0u);
}

TEST(ReaderWait, ARunningReaderCanBeDestroyedAtAnyMoment)
{
    for (int i = 0; i < 30; ++i) {
        Reader reader(reading({}));
        reader.start();
        if (i % 3 != 0)
            (void)reader.next(30s);
        if (i % 3 == 1)
            reader.stop();
    }
}

} // namespace
