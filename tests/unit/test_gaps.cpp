// SPDX-License-Identifier: MIT
// What --on-gap makes of losses, wherever they lie.
#include "support/errors.hpp"
#include "support/fake.hpp"

#include <gtest/gtest.h>
#include <poll.h>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;
using namespace std::chrono_literals;

struct Case {
    std::vector<FakeSource::Loss> losses = {};
    std::uint64_t total = 20'000;
    OnGap on_gap = OnGap::mark;
    std::uint64_t samples = 0;
    FakeSink::Script sink = {};
    std::size_t block_count = 8;
};

struct Result {
    Summary summary;
    std::vector<std::byte> bytes;
    std::vector<BlockInfo> infos;
};

Result stream(const Case& c)
{
    const SinkAt sink = fake_sink(c.sink);
    PipelineConfig config;
    config.source = fake_source({.total = c.total, .losses = c.losses}).uri;
    config.sinks = {sink.uri};
    config.block_size = kBlock;
    config.blocks = c.block_count;
    config.on_gap = c.on_gap;
    config.samples = c.samples;
    config.timeout = 2s;
    Result result{run(config), sink.log->bytes, sink.log->infos};
    return result;
}

// What a perfect zero-fill makes of the ramp: zeros exactly where samples were lost.
std::vector<std::byte> filled_ramp(const Case& c)
{
    std::vector<std::byte> bytes;
    std::uint64_t next = 0;
    for (const FakeSource::Loss& loss : c.losses) {
        bytes = std::move(bytes) + ramp(next, loss.at - next) + zeros(loss.samples);
        next = loss.at + loss.samples;
    }
    return std::move(bytes) + ramp(next, c.total - next);
}

TEST(OnGapMark, LossesAreCountedAndTheSamplesGoOn)
{
    const Result r =
        stream({.losses = {{.at = 1500, .samples = 7}, {.at = 4096, .samples = 5000}}});
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

TEST(OnGapMark, PossibleLossesAreNotCertain)
{
    const Gap told{100, 200, 0, kUnknown, Evidence::starvation};
    const Result r = stream({.losses = {{.at = 150, .samples = 0, .told = told}}});
    EXPECT_EQ(r.summary.stats.gaps.certain, 0u);
    EXPECT_EQ(r.summary.stats.gaps.possible, 1u);
    EXPECT_EQ(r.summary.stats.gaps.lost_min, 0u);
    EXPECT_EQ(r.summary.stats.gaps.lost_max, kUnknown);
    EXPECT_EQ(r.bytes, ramp(0, 20'000));
}

TEST(OnGapMark, ALossAfterTheLastWantedSampleIsNotThisStreams)
{
    for (const std::uint64_t at : {1000u, 1001u, 1020u}) {
        const Result r = stream({.losses = {{.at = at, .samples = 50}}, .samples = 1000});
        EXPECT_EQ(r.summary.stats.gaps.certain, 0u) << at;
        EXPECT_EQ(r.summary.produced_samples(), 1000u);
    }
    EXPECT_EQ(stream({.losses = {{.at = 999, .samples = 50}}, .samples = 1000})
                  .summary.stats.gaps.certain,
              1u);
}

TEST(OnGapStop, TheStreamEndsRightBeforeTheLoss)
{
    for (const std::uint64_t at : {0u, 1u, 1023u, 1024u, 1025u, 3000u}) {
        const Result r =
            stream({.losses = {{.at = at, .samples = 10}, {.at = at + 20, .samples = 10}},
                    .on_gap = OnGap::stop});
        EXPECT_EQ(r.summary.ended, "gap");
        EXPECT_FALSE(r.summary.error);
        EXPECT_EQ(r.bytes, ramp(0, at)) << at;
        EXPECT_EQ(r.summary.stats.sinks[0].delivered_samples, at);
    }
}

TEST(OnGapStop, ALossAfterTheLastWantedSampleDoesNotMatter)
{
    const Result r =
        stream({.losses = {{.at = 1010, .samples = 10}}, .on_gap = OnGap::stop, .samples = 1000});
    EXPECT_EQ(r.summary.ended, "samples");
    EXPECT_EQ(fault_of(r.summary), std::nullopt);
    EXPECT_EQ(r.bytes, ramp(0, 1000));
}

TEST(OnGapStop, ALossFoundLateIsReportedForWhatWasAlreadyDelivered)
{
    const Gap told{500, 3000, 1, 10, Evidence::overflow_bit};
    const SinkAt sink = fake_sink({});
    PipelineConfig config;
    config.source =
        fake_source({.total = 20'000, .losses = {{.at = 3000, .samples = 10, .told = told}}}).uri;
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

TEST(OnGapStop, ALossFoundAtTheEndIsNotASuccess)
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

TEST(OnGapZeroFill, ZerosAreExactlyWhereTheLossWas)
{
    for (const bool may_block : {false, true})
        for (const std::uint64_t at : {0u, 1u, 512u, 1023u, 1024u, 1025u, 2047u, 5000u})
            for (const std::uint64_t lost : {1u, 10u, 1024u, 1025u, 5000u}) {
                const Case c{.losses = {{.at = at, .samples = lost}},
                             .on_gap = OnGap::zero_fill,
                             .sink = {.may_block = may_block}};
                const Result r = stream(c);
                ASSERT_EQ(r.summary.ended, "eof") << at << " " << lost;
                ASSERT_EQ(r.bytes, filled_ramp(c)) << at << " " << lost;
                ASSERT_EQ(r.summary.produced_samples(), 20'000u);
                ASSERT_EQ(r.summary.stats.sinks[0].delivered_samples, 20'000u);
            }
}

TEST(OnGapZeroFill, SeveralLossesInOneBlockAreFilledEach)
{
    for (const std::size_t blocks : {2u, 3u, 8u}) {
        const Case c{.losses = {{.at = 1024, .samples = 1},
                                {.at = 1200, .samples = 2000},
                                {.at = 3300, .samples = 3},
                                {.at = 3400, .samples = 400}},
                     .on_gap = OnGap::zero_fill,
                     .block_count = blocks};
        const Result r = stream(c);
        EXPECT_EQ(r.summary.ended, "eof");
        EXPECT_EQ(r.bytes, filled_ramp(c));
        EXPECT_EQ(r.summary.stats.gaps.certain, 4u);
        EXPECT_EQ(r.summary.stats.samples, 20'000u - 2404);
    }
}

TEST(OnGapZeroFill, ALossAtTheVeryEndOfABlockIsFilledAfterIt)
{
    const Case c{.losses = {{.at = 1024, .samples = 100, .told = Gap{1024, 1024, 100, 100, {}}}},
                 .on_gap = OnGap::zero_fill};
    EXPECT_EQ(stream(c).bytes, filled_ramp(c));
}

TEST(OnGapZeroFill, APossibleLossIsNotFilled)
{
    const Gap told{100, 200, 0, 50, Evidence::starvation};
    const Result r =
        stream({.losses = {{.at = 150, .samples = 0, .told = told}}, .on_gap = OnGap::zero_fill});
    EXPECT_EQ(r.bytes, ramp(0, 20'000));
}

TEST(OnGapZeroFill, ALimitCountsTheZeros)
{
    for (const std::uint64_t limit : {900u, 1000u, 1500u, 2999u, 3000u, 3001u, 8000u}) {
        const Case c{.losses = {{.at = 1000, .samples = 2000}},
                     .on_gap = OnGap::zero_fill,
                     .samples = limit};
        std::vector<std::byte> wanted = filled_ramp(c);
        wanted.resize(limit * 4);
        const Result r = stream(c);
        ASSERT_EQ(r.summary.ended, "samples");
        ASSERT_EQ(r.bytes, wanted) << limit;
    }
}

TEST(OnGapZeroFill, ManySlicesOfFewBlocksFitIntoASlowSinksQueue)
{
    // Three or four losses in each block make five slices of it: more leases than there are blocks.
    Case c{.total = 60'000, .on_gap = OnGap::zero_fill, .block_count = 4};
    for (std::uint64_t at = 100; at + 1024 < c.total; at += 300)
        c.losses.push_back({.at = at, .samples = 1});
    c.sink.may_block = true;
    int slow = 0;
    c.sink.submit = [&](const Block&, int) {
        if (slow++ < 20)
            (void)::poll(nullptr, 0, 2);
    };
    const Result r = stream(c);
    EXPECT_EQ(r.summary.ended, "eof");
    EXPECT_EQ(r.bytes, filled_ramp(c));
}

TEST(OnGapZeroFill, ASinkThatKeepsItsBlocksSlowsItButDoesNotBlockIt)
{
    Case c{
        .losses = {{.at = 700, .samples = 10'000}}, .on_gap = OnGap::zero_fill, .block_count = 3};
    c.sink.may_block = true;
    c.sink.submit = [](const Block&, int) { (void)::poll(nullptr, 0, 1); };
    const Result r = stream(c);
    EXPECT_EQ(r.summary.ended, "eof");
    EXPECT_EQ(r.bytes, filled_ramp(c));
}

TEST(OnGapZeroFill, EachBlockAndEachZeroHasTheIndexOfItsSample)
{
    for (const std::uint64_t at : {0u, 1u, 700u, 1024u, 2047u}) {
        const Result r = stream(
            {.losses = {{at, 5000}, {at + 5000 + 3, 40}, {12'000, 1}}, .on_gap = OnGap::zero_fill});
        std::uint64_t index = 0; // nothing is missing, so that the bytes are where they belong
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

TEST(Gaps, ReportsOfAdjacentPositionsAreOneCertainLoss)
{
    struct Told {
        Gap first, second;
        std::uint64_t certain;
    };
    const auto gap = [](std::uint64_t from, std::uint64_t to) {
        return Gap{from, to, 1, 9, Evidence::overflow_bit};
    };
    for (const auto& [first, second, certain] :
         {Told{gap(1000, 1500), gap(1500, 3000), 1}, Told{gap(1000, 2000), gap(1100, 1200), 1},
          Told{gap(1500, 1500), gap(1500, 1500), 1}, Told{gap(1000, 1500), gap(1501, 3000), 2},
          Told{gap(1500, 3000), gap(200, 1499), 2}}) {
        const Result r = stream({.losses = {{.at = 3100, .samples = 0, .told = first},
                                            {.at = 3200, .samples = 0, .told = second}}});
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
    // Of 10,000 samples; the last block begins at 9216.
    for (const auto& [drop_at, lost, samples, counted] :
         {End{9500, 300, 9700, 300}, End{9500, 499, 9501, 499}, End{9500, 500, 9500, 0},
          End{9500, 700, 9500, 0}, End{9500, 50'000, 9500, 0}, End{9216, 784, 9216, 0},
          End{9999, 1, 9999, 0}, End{10'000, 77, 10'000, 0}, End{10'050, 77, 10'000, 0}}) {
        PipelineConfig config;
        const SinkAt sink = fake_sink();
        config.source = "sim:?rate=1M&drop_at=" + std::to_string(drop_at) +
                        "&drop=" + std::to_string(lost);
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

TEST(Gaps, LossesAfterTheLastBlockAreCountedAndReportedToTheSinksBeforeTheyEnd)
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
