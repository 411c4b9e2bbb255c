// SPDX-License-Identifier: MIT
// The effects of --on-gap=mark and --on-gap=stop on losses, and the counting of losses.
#include "support/errors.hpp"
#include "support/lossy_stream.hpp"

#include <gtest/gtest.h>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;
using namespace std::chrono_literals;

TEST(OnGapMark, LossesAreCountedAndTheStreamContinues)
{
    const LossyResult r =
        stream_lossy({.losses = {{.at = 1500, .samples = 7}, {.at = 4096, .samples = 5000}}});
    EXPECT_EQ(r.bytes, ramp(0, 1500) + ramp(1507, 4096 - 1507) + ramp(9096, 20'000 - 9096));
    EXPECT_EQ(r.summary.ended, "eof");
    EXPECT_EQ(fault_of(r.summary), std::nullopt);
    EXPECT_EQ(r.summary.stats.gaps.certain, 2u);
    EXPECT_EQ(r.summary.stats.gaps.lost_min, 5007u);
    EXPECT_EQ(r.summary.stats.gaps.lost_max, 5007u);
    EXPECT_EQ(r.summary.stats.samples, 20'000u - 5007);
    EXPECT_EQ(r.summary.produced_samples(), 20'000u);
    std::vector<Gap> gaps;
    for (const BlockInfo& info : r.infos)
        gaps.insert(gaps.end(), info.gaps.begin(), info.gaps.begin() + info.gap_count);
    ASSERT_EQ(gaps.size(), 2u);
    EXPECT_EQ(gaps[0].offset_min, 1500u);
    EXPECT_EQ(gaps[1].offset_min, 4096u - 7);
}

TEST(OnGapMark, PossibleLossesAreNotCountedAsCertain)
{
    const Gap reported{100, 200, 0, kUnknown, Evidence::starvation};
    const LossyResult r =
        stream_lossy({.losses = {{.at = 150, .samples = 0, .reported = reported}}});
    EXPECT_EQ(r.summary.stats.gaps.certain, 0u);
    EXPECT_EQ(r.summary.stats.gaps.possible, 1u);
    EXPECT_EQ(r.summary.stats.gaps.lost_min, 0u);
    EXPECT_EQ(r.summary.stats.gaps.lost_max, kUnknown);
    EXPECT_EQ(r.bytes, ramp(0, 20'000));
}

TEST(OnGapMark, ALossAfterTheLastRequestedSampleIsNotCounted)
{
    for (const std::uint64_t at : {1000u, 1001u, 1020u}) {
        const LossyResult r =
            stream_lossy({.losses = {{.at = at, .samples = 50}}, .samples = 1000});
        EXPECT_EQ(r.summary.stats.gaps.certain, 0u) << at;
        EXPECT_EQ(r.summary.produced_samples(), 1000u);
    }
    EXPECT_EQ(stream_lossy({.losses = {{.at = 999, .samples = 50}}, .samples = 1000})
                  .summary.stats.gaps.certain,
              1u);
}

TEST(OnGapStop, TheStreamEndsRightBeforeTheLoss)
{
    for (const std::uint64_t at : {0u, 1u, 1023u, 1024u, 1025u, 3000u}) {
        const LossyResult r =
            stream_lossy({.losses = {{.at = at, .samples = 10}, {.at = at + 20, .samples = 10}},
                          .on_gap = OnGap::stop});
        EXPECT_EQ(r.summary.ended, "gap");
        EXPECT_FALSE(r.summary.error);
        EXPECT_EQ(r.bytes, ramp(0, at)) << at;
        EXPECT_EQ(r.summary.stats.sinks[0].delivered_samples, at);
    }
}

TEST(OnGapStop, ALossAfterTheLastRequestedSampleIsIgnored)
{
    const LossyResult r = stream_lossy(
        {.losses = {{.at = 1010, .samples = 10}}, .on_gap = OnGap::stop, .samples = 1000});
    EXPECT_EQ(r.summary.ended, "samples");
    EXPECT_EQ(fault_of(r.summary), std::nullopt);
    EXPECT_EQ(r.bytes, ramp(0, 1000));
}

TEST(OnGapStop, ALossFoundLateIsReportedAmongTheDeliveredSamples)
{
    const Gap reported{500, 3000, 1, 10, Evidence::overflow_bit};
    const SinkAt sink = fake_sink({});
    PipelineConfig config;
    config.source = fake_source({.total = 20'000,
                                 .losses = {{.at = 3000, .samples = 10, .reported = reported}}})
                        .uri;
    config.sinks = {sink.uri};
    config.block_size = kBlock;
    config.on_gap = OnGap::stop;
    const Summary summary = run(config);
    EXPECT_EQ(summary.ended, "gap");
    EXPECT_EQ(summary.stats.gaps.certain, 1u);
    ASSERT_EQ(sink.log->trailing.size(), 1u);
    EXPECT_EQ(sink.log->trailing[0].offset_min, 500u);
    EXPECT_EQ(sink.log->trailing[0].offset_max, 3000u);
}

TEST(OnGapStop, ALossFoundAtTheEndEndsTheStreamWithAGap)
{
    for (const std::uint64_t lost_min : {0u, 1u}) {
        const SinkAt sink = fake_sink({});
        PipelineConfig config;
        config.source =
            fake_source({.total = 20'000,
                         .trailing = {{100, 20'000, lost_min, 50, Evidence::overflow_bit}}})
                .uri;
        config.sinks = {sink.uri};
        config.block_size = kBlock;
        config.samples = 10'000;
        config.on_gap = OnGap::stop;
        const Summary summary = run(config);
        EXPECT_EQ(summary.ended, "gap") << lost_min;
        EXPECT_FALSE(summary.error);
        EXPECT_EQ(sink.log->trailing.size(), 1u);
    }
}

TEST(Gaps, ReportsOfAdjacentPositionsCountAsOneCertainLoss)
{
    struct Reported {
        Gap first, second;
        std::uint64_t certain;
    };
    const auto gap = [](std::uint64_t from, std::uint64_t to) {
        return Gap{from, to, 1, 9, Evidence::overflow_bit};
    };
    for (const auto& [first, second, certain] : {Reported{gap(1000, 1500), gap(1500, 3000), 1},
                                                 Reported{gap(1000, 2000), gap(1100, 1200), 1},
                                                 Reported{gap(1500, 1500), gap(1500, 1500), 1},
                                                 Reported{gap(1000, 1500), gap(1501, 3000), 2},
                                                 Reported{gap(1500, 3000), gap(200, 1499), 2}}) {
        const LossyResult r =
            stream_lossy({.losses = {{.at = 3100, .samples = 0, .reported = first},
                                     {.at = 3200, .samples = 0, .reported = second}}});
        EXPECT_EQ(r.summary.stats.gaps.certain, certain)
            << first.offset_min << ' ' << second.offset_min;
        EXPECT_EQ(r.summary.stats.gaps.lost_min, 2u);
    }
}

TEST(Gaps, LossesAtOrAfterTheEndOfADurationAreNotCounted)
{
    struct End {
        std::uint64_t drop_at, lost, samples, counted;
    };
    // Each stream lasts 10,000 samples; its last block begins at sample 9216.
    for (const auto& [drop_at, lost, samples, counted] :
         {End{9500, 300, 9700, 300}, End{9500, 499, 9501, 499}, End{9500, 500, 9500, 0},
          End{9500, 700, 9500, 0}, End{9500, 50'000, 9500, 0}, End{9216, 784, 9216, 0},
          End{9999, 1, 9999, 0}, End{10'000, 77, 10'000, 0}, End{10'050, 77, 10'000, 0}}) {
        PipelineConfig config;
        const SinkAt sink = fake_sink();
        config.source =
            "sim:?rate=1M&drop_at=" + std::to_string(drop_at) + "&drop=" + std::to_string(lost);
        config.sinks = {sink.uri};
        config.block_size = kBlock;
        config.duration = 10ms;
        const Summary summary = run(config);
        EXPECT_EQ(summary.ended, "duration");
        EXPECT_EQ(summary.stats.samples, samples) << drop_at << ' ' << lost;
        EXPECT_EQ(summary.stats.gaps.lost_min, counted) << drop_at << ' ' << lost;
        EXPECT_EQ(summary.stats.gaps.certain, counted == 0 ? 0u : 1u) << drop_at << ' ' << lost;
    }
}

TEST(Gaps, LossesAfterTheLastBlockAreCountedAndReportedBeforeTheSinksEnd)
{
    PipelineConfig config;
    FakeSource::Script script{.total = 1000};
    script.trailing = {{1000, 1000, 5, 9, Evidence::overflow_bit}};
    config.source = fake_source(script).uri;
    const SinkAt worker = fake_sink({.may_block = true}), inline_sink = fake_sink();
    config.sinks = {worker.uri, inline_sink.uri};
    const Summary summary = run(config);
    for (const auto& sink : {worker, inline_sink}) {
        ASSERT_EQ(sink.log->trailing.size(), 1u);
        EXPECT_EQ(sink.log->trailing[0].offset_min, 1000u);
        EXPECT_EQ(sink.log->trailing[0].lost_max, 9u);
    }
    EXPECT_EQ(summary.stats.gaps.certain, 1u);
    EXPECT_EQ(summary.stats.gaps.lost_min, 5u);
    EXPECT_EQ(summary.stats.gaps.lost_max, 9u);
    EXPECT_EQ(summary.produced_samples(), 1005u);
}

} // namespace
