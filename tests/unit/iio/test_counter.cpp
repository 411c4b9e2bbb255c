// SPDX-License-Identifier: MIT
// counter=channel:NAME: the losses that a counter of few bits can show, and those that it cannot
// show.
#include "iio/loss/counter.hpp"
#include "support/errors.hpp"
#include "sys/event.hpp"

#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <vector>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;
using iio::Counter;

struct ChannelCounted {
    Format format = Format::parse("ci16_le");
    std::unique_ptr<Counter> counter = Counter::make("channel:" + format.channels[0].id, format);

    double rate = 0;
    Counter::Dated dated = Counter::Dated::at_end;
    std::vector<std::int64_t> ends = {}; ///< ns after the start; empty: all blocks end at the start
    std::function<void(Counter&, std::size_t)> between = nullptr; ///< called before each block

    // Returns the gaps in blocks of samples with these counter values.
    std::vector<Gap> gaps_in(const std::vector<std::vector<unsigned>>& blocks)
    {
        counter->reset(blocks[0].size() * format.sample_bytes, rate, dated);
        const std::int64_t start_ns = sys::monotonic_ns();
        std::size_t n = 0;
        detail::SampleTracker tracker;
        tracker.reset(format.sample_bytes);
        std::vector<Gap> gaps;
        for (std::size_t number = 0; number < blocks.size(); ++number) {
            const auto& block = blocks[number];
            if (between)
                between(*counter, number);
            std::vector<std::byte> bytes;
            for (const unsigned count : block)
                for (const unsigned byte : {count & 255, count >> 8 & 255, 0U, 0U})
                    bytes.push_back(static_cast<std::byte>(byte));
            counter->report_gaps(bytes, tracker, start_ns + (ends.empty() ? 0 : ends[n++]));
            const BlockInfo info = tracker.next(bytes.size(), {});
            gaps.insert(gaps.end(), info.gaps.begin(), info.gaps.begin() + info.gap_count);
        }
        counter->finish(tracker);
        const auto left = tracker.left();
        gaps.insert(gaps.end(), left.begin(), left.end());
        return gaps;
    }
};

TEST(ChannelCounter, ASixteenBitCounterGivesTheMinimumLoss)
{
    const auto gaps =
        ChannelCounted{}.gaps_in({{0, 1, 2, 3}, {104, 105, 106, 107}, {108, 109, 120, 121}});
    ASSERT_EQ(gaps.size(), 2U);
    EXPECT_EQ(gaps[0].lost_min, 100U);
    EXPECT_EQ(gaps[0].lost_max, kUnknown); // or any multiple of 65536 more
    EXPECT_EQ(gaps[0].offset_min, 4U);
    EXPECT_EQ(gaps[1].lost_min, 10U);
    EXPECT_EQ(gaps[1].offset_max, 10U);
}

TEST(ChannelCounter, AWrapIsNotALoss)
{
    EXPECT_TRUE(ChannelCounted{}.gaps_in({{65533, 65534, 65535, 0}, {1, 2, 3, 4}}).empty());
}

TEST(ChannelCounter, AStepBackIsARestart)
{
    const auto gaps = ChannelCounted{}.gaps_in({{5000, 5001, 5002, 5003}, {0, 1, 2, 3}});
    ASSERT_EQ(gaps.size(), 1U);
    EXPECT_EQ(gaps[0].lost_min, 0U);
    EXPECT_EQ(gaps[0].lost_max, kUnknown);
}

// Returns the gaps of a device at 1 MS/s with a 16-bit counter, which loses `lost` samples before
// its fourth block.
std::vector<Gap> gaps_for(std::uint64_t lost, Counter::Dated dated, double stated_rate = 1e6)
{
    constexpr unsigned kBlock = 10'000;
    ChannelCounted counted{.rate = stated_rate, .dated = dated};
    std::vector<std::vector<unsigned>> blocks;
    std::uint64_t made = 0;
    for (unsigned block = 0; block < 8; ++block) {
        made += block == 3 ? lost : 0;
        blocks.emplace_back();
        for (unsigned i = 0; i < kBlock; ++i)
            blocks.back().push_back(static_cast<unsigned>(made++ % 65536));
        counted.ends.push_back(static_cast<std::int64_t>(made) * 1000);
    }
    return counted.gaps_in(blocks);
}

TEST(ChannelCounter, TheClockLimitsHowOftenTheCounterWrapped)
{
    for (const std::uint64_t lost : {5ULL, 20'000ULL, 70'000ULL, 65536ULL * 3 + 9, 10'000'009ULL})
        for (const auto dated : {Counter::Dated::at_end, Counter::Dated::on_arrival}) {
            if (lost % 65536 > 32767)
                continue; // mistaken for a step back
            const auto gaps = gaps_for(lost, dated);
            ASSERT_EQ(gaps.size(), 1U);
            EXPECT_EQ(gaps[0].lost_min, lost % 65536);
            EXPECT_GE(gaps[0].lost_max, lost);
            EXPECT_EQ((gaps[0].lost_max - lost) % 65536, 0U);
            EXPECT_LE(gaps[0].lost_max,
                      lost + lost / 64 + 165'536); // the possible error of the clock
        }
    // The samples that have arrived since the start leave no room for another turn of the counter.
    EXPECT_EQ(gaps_for(5, Counter::Dated::at_end)[0].lost_max, 5U);
}

TEST(ChannelCounter, ADeviceFasterThanItsStatedRateGivesNoMaximum)
{
    EXPECT_EQ(gaps_for(5, Counter::Dated::at_end, 1e3)[0].lost_max, kUnknown);
}

TEST(ChannelCounter, AfterAStepBackTheClockLimitsTheLoss)
{
    const auto gaps =
        gaps_for(65536 - 1000, Counter::Dated::at_end); // looks like a step back by 1000
    ASSERT_EQ(gaps.size(), 1U);
    EXPECT_EQ(gaps[0].lost_min, 0U);
    EXPECT_GE(gaps[0].lost_max, 65536U - 1000);
    EXPECT_LE(gaps[0].lost_max, 65536U + 65536 / 64 + 120'000);
}

// Returns the gaps in eight seconds of a device at 1 MS/s with a 16-bit counter, in blocks of 5 ms.
// The device loses `lost` samples before block 900. Its clock is off by `drift`, and its interrupts
// are late.
std::vector<Gap> gaps_in_eight_seconds(std::uint64_t lost, double drift = 0)
{
    constexpr unsigned kBlock = 5000, kBlocks = 1600;
    ChannelCounted counted{.rate = 1e6, .dated = Counter::Dated::at_end};
    std::vector<std::vector<unsigned>> blocks;
    std::uint64_t made = 0;
    for (unsigned block = 0; block < kBlocks; ++block) {
        made += block == 900 ? lost : 0;
        blocks.emplace_back();
        for (unsigned i = 0; i < kBlock; ++i)
            blocks.back().push_back(static_cast<unsigned>(made++ % 65536));
        const std::int64_t late = block % 7 == 0    ? 3'000'000
                                  : block % 50 == 0 ? 90'000'000
                                                    : 50'000;
        counted.ends.push_back(std::llround(static_cast<double>(made) * 1000 * (1 + drift)) + late);
    }
    return counted.gaps_in(blocks);
}

TEST(ChannelCounter, TheTimesOfTheBlocksRevealALossOfFullTurns)
{
    for (const unsigned turns : {1, 2, 9})
        for (const double drift : {0.0, 0.004, -0.004}) {
            const auto gaps = gaps_in_eight_seconds(turns * 65536ULL, drift);
            ASSERT_EQ(gaps.size(), 1U) << turns << " " << drift;
            EXPECT_EQ(gaps[0].lost_min, 0U);
            EXPECT_EQ(gaps[0].lost_max, turns * 65536ULL);
            EXPECT_LE(gaps[0].offset_min, 900U * 5000);
            EXPECT_GE(gaps[0].offset_max, 900U * 5000);
            EXPECT_EQ(gaps[0].evidence, Evidence::counter);
        }
}

TEST(ChannelCounter, LateInterruptsAndClockDriftAreNotReportedAsLosses)
{
    for (const double drift : {0.0, 0.01, -0.01})
        EXPECT_TRUE(gaps_in_eight_seconds(0, drift).empty()) << drift;
    const auto gaps = gaps_in_eight_seconds(1000, 0.001); // the counter and the times show it
    ASSERT_EQ(gaps.size(), 1U);
    EXPECT_EQ(gaps[0].lost_min, 1000U);
}

// Returns the gaps of a stream of blocks of four samples if other evidence reports a loss in it.
std::vector<Gap> decided(const Gap& evidence, std::vector<std::vector<unsigned>> blocks)
{
    ChannelCounted counted;
    counted.between = [&](Counter& counter, std::size_t block) {
        if (block == 1)
            counter.add_evidence(evidence);
    };
    return counted.gaps_in(blocks);
}

TEST(ChannelCounter, TheCounterConfirmsOrRefutesOtherEvidence)
{
    const std::vector<std::vector<unsigned>> whole{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}};
    // Shorter than a turn: the counter would show the loss.
    EXPECT_TRUE(decided({4, 6, 1, 65535, Evidence::overflow_bit}, whole).empty());
    auto gaps = decided({4, 6, 1, 200'000, Evidence::overflow_bit}, whole);
    ASSERT_EQ(gaps.size(), 1U);
    EXPECT_EQ(gaps[0].lost_min, 65536U);
    EXPECT_EQ(gaps[0].lost_max, 3U * 65536);
    EXPECT_EQ(gaps[0].evidence, Evidence::overflow_bit);
    gaps = decided({4, 11, 0, 70'000, Evidence::starvation}, whole);
    ASSERT_EQ(gaps.size(), 1U);
    EXPECT_EQ(gaps[0].lost_min, 0U);
    EXPECT_EQ(gaps[0].lost_max, 65536U);
    // The counter shows a loss at this place.
    gaps = decided({4, 6, 1, 200'000, Evidence::overflow_bit}, {{0, 1, 2, 3}, {9, 10, 11, 12}});
    ASSERT_EQ(gaps.size(), 1U);
    EXPECT_EQ(gaps[0].lost_min, 5U);
    EXPECT_EQ(gaps[0].evidence, Evidence::counter);
}

TEST(ChannelCounter, ACounterThatCanWrapWithinABlockIsRefused)
{
    ChannelCounted counted;
    EXPECT_NO_THROW(counted.counter->reset(65535 * counted.format.sample_bytes));
    EXPECT_THROW(counted.counter->reset(65536 * counted.format.sample_bytes), Error);
}

} // namespace
