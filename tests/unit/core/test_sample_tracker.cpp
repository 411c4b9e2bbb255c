// SPDX-License-Identifier: MIT
#include "core/loss/sample_tracker.hpp"

#include <gtest/gtest.h>

namespace {

using namespace iio_stream;
using detail::LossDetection;
using detail::SampleTracker;

constexpr std::size_t kSample = 4;

struct SampleTrackerTest : testing::Test {
    SampleTrackerTest() { tracker.reset(kSample); }
    BlockInfo block(std::uint64_t samples) { return tracker.next(samples * kSample, {}); }
    void loss(std::uint64_t offset, std::uint64_t lost)
    {
        tracker.gap({offset, offset, lost, lost, Evidence::counter});
    }

    SampleTracker tracker;
};

TEST_F(SampleTrackerTest, BlocksWithoutALossAreNumberedConsecutively)
{
    EXPECT_EQ(block(10).sample_index, 0u);
    const BlockInfo second = block(5);
    EXPECT_EQ(second.sequence, 1u);
    EXPECT_EQ(second.position, 10u);
    EXPECT_EQ(second.sample_index, 10u);
    EXPECT_EQ(second.bytes, 20u);
    EXPECT_TRUE(second.index_exact);
    EXPECT_EQ(second.gap_count, 0);
    EXPECT_EQ(tracker.position(), 15u);
}

TEST_F(SampleTrackerTest, ALossBeforeABlockMovesItsIndexButNotItsPosition)
{
    block(10);
    loss(10, 7);
    const BlockInfo after = block(10);
    EXPECT_EQ(after.position, 10u);
    EXPECT_EQ(after.sample_index, 17u);
    ASSERT_EQ(after.gap_count, 1);
    EXPECT_EQ(after.gaps[0].lost_min, 7u);
    EXPECT_TRUE(after.index_exact);
    EXPECT_EQ(block(1).gap_count, 0);
}

TEST_F(SampleTrackerTest, ALossInsideABlockMovesTheIndexOfTheNextBlock)
{
    block(10);
    loss(13, 7);
    EXPECT_EQ(block(10).sample_index, 10u);
    EXPECT_EQ(block(10).sample_index, 27u);
}

TEST_F(SampleTrackerTest, AFailedBlockUsesASequenceNumber)
{
    block(10);
    tracker.failed();
    EXPECT_EQ(tracker.sequence(), 2u);
    EXPECT_EQ(block(10).sequence, 2u);
}

TEST_F(SampleTrackerTest, TooManyGapsAreMergedIntoOneThatCoversThem)
{
    for (std::uint64_t i = 0; i < kMaxGaps + 3; ++i)
        loss(i * 10, 1);
    const BlockInfo info = block(100);
    ASSERT_EQ(info.gap_count, kMaxGaps);
    const Gap& last = info.gaps[kMaxGaps - 1];
    EXPECT_EQ(last.offset_min, (kMaxGaps - 1) * 10);
    EXPECT_EQ(last.offset_max, (kMaxGaps + 2) * 10);
    EXPECT_EQ(last.lost_min, 4u);
    EXPECT_EQ(last.lost_max, 4u);
    EXPECT_EQ(block(1).sample_index, 100 + kMaxGaps + 3);
}

TEST_F(SampleTrackerTest, AMergeWithAnUnboundedGapIsUnboundedAndHasTheWeakerEvidence)
{
    for (std::uint64_t i = 0; i < kMaxGaps; ++i)
        loss(i, 1);
    tracker.gap({5, 6, 0, kUnknown, Evidence::starvation});
    const BlockInfo info = block(100);
    const Gap& last = info.gaps[kMaxGaps - 1];
    EXPECT_EQ(last.lost_min, 1u);
    EXPECT_EQ(last.lost_max, kUnknown);
    EXPECT_EQ(last.evidence, Evidence::starvation);
    EXPECT_FALSE(info.index_exact);
}

TEST_F(SampleTrackerTest, AfterAPossibleLossTheIndexIsNotExact)
{
    EXPECT_TRUE(block(10).index_exact);
    tracker.gap({10, 10, 0, 5, Evidence::starvation});
    EXPECT_FALSE(block(10).index_exact);
    EXPECT_FALSE(block(10).index_exact);
    EXPECT_EQ(tracker.position(), 30u);
}

TEST_F(SampleTrackerTest, ALossMovesTheIndexOnlyAfterItsLatestPosition)
{
    tracker.gap({5, 25, 1, 9, Evidence::overflow_bit});
    EXPECT_EQ(block(10).sample_index, 0u);
    EXPECT_EQ(block(10).sample_index, 10u); // the loss can be between samples 24 and 25
    EXPECT_EQ(block(10).sample_index, 20u);
    EXPECT_EQ(block(10).sample_index, 31u);
}

// A starved machine behaves like this: it loses samples of each block, and reads the register late.
TEST_F(SampleTrackerTest, ALossCountsFromItsOwnPositionHoweverManyLossesFollow)
{
    for (std::uint64_t n = 0; n < 100; ++n) {
        tracker.gap({10 * n, 10 * n + 15, 1, 9, Evidence::overflow_bit});
        const std::uint64_t certain =
            n < 2 ? 0 : n - 1; // the losses that end at or before this block
        EXPECT_EQ(block(10).sample_index, 10 * n + certain);
    }
}

TEST_F(SampleTrackerTest, LossesBeyondTheMaximumAreCountedWhenAllAreCertain)
{
    for (std::uint64_t n = 0; n < 100; ++n) {
        tracker.gap({0, 1000 + n, 1, 9, Evidence::overflow_bit});
        EXPECT_EQ(block(10).sample_index, 10 * n);
    }
    for (std::uint64_t n = 0; n < 10; ++n)
        block(10);
    EXPECT_EQ(block(10).sample_index, 1100u + 100);
}

TEST_F(SampleTrackerTest, AnEmptyGapLeavesTheIndexExact)
{
    tracker.gap({0, 10, 0, 0, Evidence::starvation});
    EXPECT_TRUE(block(10).index_exact);
}

TEST_F(SampleTrackerTest, GapsWithoutABlockToCarryThemRemain)
{
    block(10);
    loss(10, 3);
    ASSERT_EQ(tracker.left().size(), 1u);
    EXPECT_EQ(tracker.left()[0].lost_min, 3u);
    block(1);
    EXPECT_TRUE(tracker.left().empty());
}

TEST_F(SampleTrackerTest, IfNothingDetectsLossesNoIndexIsExact)
{
    tracker.reset(kSample, LossDetection::none);
    EXPECT_FALSE(block(10).index_exact);
    const BlockInfo second = block(10);
    EXPECT_FALSE(second.index_exact);
    EXPECT_EQ(second.sample_index, 10u);
    tracker.reset(kSample);
    EXPECT_TRUE(block(10).index_exact);
}

TEST_F(SampleTrackerTest, ResetBeginsANewStream)
{
    loss(0, 3);
    block(10);
    loss(10, 3);
    tracker.reset(2);
    const BlockInfo info = tracker.next(20, {});
    EXPECT_EQ(info.sequence, 0u);
    EXPECT_EQ(info.sample_index, 0u);
    EXPECT_EQ(info.gap_count, 0);
    EXPECT_EQ(tracker.position(), 10u);
}

TEST_F(SampleTrackerTest, CountsBeyondTwoToTheThirtyTwoDoNotWrap)
{
    for (int i = 0; i < 80; ++i)
        block(std::uint64_t{1} << 27);
    loss(tracker.position(), std::uint64_t{1} << 40);
    EXPECT_EQ(block(1).sample_index, 80 * (std::uint64_t{1} << 27) + (std::uint64_t{1} << 40));
}

} // namespace
