// SPDX-License-Identifier: MIT
// The effect of --on-gap=zero-fill on losses.
#include "support/lossy_stream.hpp"

#include <gtest/gtest.h>
#include <poll.h>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;
using namespace std::chrono_literals;

// The ramp after a perfect zero-fill: zeros exactly where samples were lost.
std::vector<std::byte> filled_ramp(const LossyStream& c)
{
    std::vector<std::byte> bytes;
    std::uint64_t next = 0;
    for (const FakeSource::Loss& loss : c.losses) {
        bytes = std::move(bytes) + ramp(next, loss.at - next) + zeros(loss.samples);
        next = loss.at + loss.samples;
    }
    return std::move(bytes) + ramp(next, c.total - next);
}

TEST(OnGapZeroFill, ZerosAreExactlyAtThePlaceOfTheLoss)
{
    for (const bool may_block : {false, true})
        for (const std::uint64_t at : {0u, 1u, 512u, 1023u, 1024u, 1025u, 2047u, 5000u})
            for (const std::uint64_t lost : {1u, 10u, 1024u, 1025u, 5000u}) {
                const LossyStream c{.losses = {{.at = at, .samples = lost}},
                                    .on_gap = OnGap::zero_fill,
                                    .sink = {.may_block = may_block}};
                const LossyResult r = stream_lossy(c);
                ASSERT_EQ(r.summary.ended, "eof") << at << " " << lost;
                ASSERT_EQ(r.bytes, filled_ramp(c)) << at << " " << lost;
                ASSERT_EQ(r.summary.produced_samples(), 20'000u);
                ASSERT_EQ(r.summary.stats.sinks[0].delivered_samples, 20'000u);
            }
}

TEST(OnGapZeroFill, EachOfSeveralLossesInOneBlockIsFilled)
{
    for (const std::size_t blocks : {2u, 3u, 8u}) {
        const LossyStream c{.losses = {{.at = 1024, .samples = 1},
                                       {.at = 1200, .samples = 2000},
                                       {.at = 3300, .samples = 3},
                                       {.at = 3400, .samples = 400}},
                            .on_gap = OnGap::zero_fill,
                            .block_count = blocks};
        const LossyResult r = stream_lossy(c);
        EXPECT_EQ(r.summary.ended, "eof");
        EXPECT_EQ(r.bytes, filled_ramp(c));
        EXPECT_EQ(r.summary.stats.gaps.certain, 4u);
        EXPECT_EQ(r.summary.stats.samples, 20'000u - 2404);
    }
}

TEST(OnGapZeroFill, ALossAtTheEndOfABlockIsFilledAfterIt)
{
    const LossyStream c{
        .losses = {{.at = 1024, .samples = 100, .reported = Gap{1024, 1024, 100, 100, {}}}},
        .on_gap = OnGap::zero_fill};
    EXPECT_EQ(stream_lossy(c).bytes, filled_ramp(c));
}

TEST(OnGapZeroFill, APossibleLossIsNotFilled)
{
    const Gap reported{100, 200, 0, 50, Evidence::starvation};
    const LossyResult r = stream_lossy(
        {.losses = {{.at = 150, .samples = 0, .reported = reported}}, .on_gap = OnGap::zero_fill});
    EXPECT_EQ(r.bytes, ramp(0, 20'000));
}

TEST(OnGapZeroFill, ALimitIncludesTheZeros)
{
    for (const std::uint64_t limit : {900u, 1000u, 1500u, 2999u, 3000u, 3001u, 8000u}) {
        const LossyStream c{.losses = {{.at = 1000, .samples = 2000}},
                            .on_gap = OnGap::zero_fill,
                            .samples = limit};
        std::vector<std::byte> wanted = filled_ramp(c);
        wanted.resize(limit * 4);
        const LossyResult r = stream_lossy(c);
        ASSERT_EQ(r.summary.ended, "samples");
        ASSERT_EQ(r.bytes, wanted) << limit;
    }
}

TEST(OnGapZeroFill, ManySlicesOfFewBlocksFitIntoASlowSinksQueue)
{
    // Three or four losses in each block split it into up to five slices, so there are more leases
    // than blocks.
    LossyStream c{.total = 60'000, .on_gap = OnGap::zero_fill, .block_count = 4};
    for (std::uint64_t at = 100; at + 1024 < c.total; at += 300)
        c.losses.push_back({.at = at, .samples = 1});
    c.sink.may_block = true;
    int slow = 0;
    c.sink.submit = [&](const Block&, int) {
        if (slow++ < 20)
            (void)::poll(nullptr, 0, 2);
    };
    const LossyResult r = stream_lossy(c);
    EXPECT_EQ(r.summary.ended, "eof");
    EXPECT_EQ(r.bytes, filled_ramp(c));
}

TEST(OnGapZeroFill, ASinkThatKeepsBlocksSlowsTheFillButDoesNotBlockIt)
{
    LossyStream c{
        .losses = {{.at = 700, .samples = 10'000}}, .on_gap = OnGap::zero_fill, .block_count = 3};
    c.sink.may_block = true;
    c.sink.submit = [](const Block&, int) { (void)::poll(nullptr, 0, 1); };
    const LossyResult r = stream_lossy(c);
    EXPECT_EQ(r.summary.ended, "eof");
    EXPECT_EQ(r.bytes, filled_ramp(c));
}

TEST(OnGapZeroFill, EachBlockAndEachZeroHasTheIndexOfItsSample)
{
    for (const std::uint64_t at : {0u, 1u, 700u, 1024u, 2047u}) {
        const LossyResult r = stream_lossy(
            {.losses = {{at, 5000}, {at + 5000 + 3, 40}, {12'000, 1}}, .on_gap = OnGap::zero_fill});
        std::uint64_t index = 0; // nothing is missing, so the bytes are in their right places
        for (const BlockInfo& info : r.infos) {
            EXPECT_EQ(info.sample_index, index) << at;
            EXPECT_TRUE(info.index_exact);
            index += info.bytes / 4;
        }
        EXPECT_EQ(index, 20'000u);
    }
}

TEST(OnGapZeroFill, ADurationCountsTheZerosOnce)
{
    PipelineConfig config;
    const SinkAt sink = fake_sink();
    config.source = "sim:?rate=1M&drop_at=20k&drop=20k";
    config.sinks = {sink.uri};
    config.block_size = kBlock;
    config.on_gap = OnGap::zero_fill;
    config.duration = 60ms;
    const Summary summary = run(config);
    EXPECT_EQ(summary.ended, "duration");
    EXPECT_EQ(summary.produced_samples(), 60'000u);
    EXPECT_EQ(sink.log->bytes.size(), 240'000u);
}

} // namespace
