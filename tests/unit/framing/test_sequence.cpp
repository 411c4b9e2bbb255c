// SPDX-License-Identifier: MIT
#include "framing/sequence_tracker.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

namespace {

using namespace iio_stream;
using namespace iio_stream::framing;

constexpr std::size_t kSampleBytes = 4;

struct FramingSequence : testing::Test {
    FramingSequence() { sequence_tracker.reset(kSampleBytes); }

    static Header header(std::uint64_t index, std::uint32_t samples)
    {
        Header h;
        h.sample_index = index;
        h.valid_bytes = samples * kSampleBytes;
        return h;
    }
    BlockInfo take(const Header& h)
    {
        EXPECT_TRUE(sequence_tracker.account(h));
        return sequence_tracker.next(h, {}, false);
    }

    SequenceTracker sequence_tracker;
};

TEST_F(FramingSequence, ConsecutiveBlocksHaveNoGap)
{
    EXPECT_FALSE(sequence_tracker.begun());
    EXPECT_EQ(take(header(0, 10)).gap_count, 0);
    const BlockInfo second = take(header(10, 10));
    EXPECT_EQ(second.gap_count, 0);
    EXPECT_EQ(second.sample_index, 10u);
    EXPECT_TRUE(sequence_tracker.begun());
}

TEST_F(FramingSequence, AStreamJoinedLateHasNoLoss)
{
    EXPECT_EQ(take(header(500, 10)).gap_count, 0);
}

TEST_F(FramingSequence, AStreamExpectedFromItsStartHasALossIfJoinedLate)
{
    sequence_tracker.expect(0);
    const BlockInfo first = take(header(500, 10));
    ASSERT_EQ(first.gap_count, 1);
    EXPECT_EQ(first.gaps[0].lost_min, 500u);
    EXPECT_EQ(first.gaps[0].lost_max, 500u);
    EXPECT_EQ(first.sample_index, 500u);
}

TEST_F(FramingSequence, SamplesMissingBetweenTwoBlocksAreACertainLoss)
{
    take(header(0, 10));
    const BlockInfo second = take(header(25, 10));
    ASSERT_EQ(second.gap_count, 1);
    EXPECT_EQ(second.gaps[0].offset_min, 10u);
    EXPECT_EQ(second.gaps[0].lost_min, 15u);
    EXPECT_EQ(second.gaps[0].evidence, Evidence::counter);
}

TEST_F(FramingSequence, ADuplicateBlockIsIgnored)
{
    take(header(0, 10));
    take(header(10, 10));
    EXPECT_FALSE(sequence_tracker.account(header(0, 10)));
    EXPECT_FALSE(sequence_tracker.account(header(10, 10)));
    EXPECT_EQ(take(header(20, 10)).gap_count, 0);
}

TEST_F(FramingSequence, ALossReportedByTheSenderIsCountedOnce)
{
    take(header(0, 10));
    Header told = header(15, 10); // five are lost before its first sample
    told.loss = {0, 0, 5, 5, Evidence::overflow_bit};
    const BlockInfo before = take(told);
    ASSERT_EQ(before.gap_count, 1);
    EXPECT_EQ(before.gaps[0].lost_min, 5u);
    EXPECT_EQ(before.gaps[0].evidence, Evidence::overflow_bit);
    Header inside = header(25, 10); // three are lost inside; the next index includes them
    inside.loss = {4, 4, 3, 3, Evidence::overflow_bit};
    EXPECT_EQ(take(inside).gap_count, 1);
    EXPECT_EQ(take(header(38, 10)).gap_count, 0);
}

// The header reports a merged loss: five samples before the block, and three inside it, which the
// index of the next block includes.
TEST_F(FramingSequence, ALossBothBeforeAndInsideABlockIsCountedOnce)
{
    take(header(0, 10));
    Header both = header(15, 10);
    both.loss = {-2, 4, 8, 9, Evidence::overflow_bit};
    const BlockInfo told = take(both);
    ASSERT_EQ(told.gap_count, 1);
    EXPECT_EQ(told.gaps[0].offset_min, 8u);
    EXPECT_EQ(told.gaps[0].offset_max, 14u);
    EXPECT_EQ(told.gaps[0].lost_min, 8u);
    EXPECT_EQ(take(header(28, 10)).gap_count, 0);
    const BlockInfo later = take(header(40, 10));
    ASSERT_EQ(later.gap_count, 1);
    EXPECT_EQ(later.gaps[0].lost_min, 2u);
}

// The sender's register reports a loss whose place can be up to three blocks ahead. The index
// includes the loss only after that place.
TEST_F(FramingSequence, ALossThatCanBeInALaterBlockIsCountedOnceAtItsPlace)
{
    Header told = header(0, 10);
    told.loss = {2, 35, 1, 50, Evidence::overflow_bit};
    const BlockInfo first = take(told);
    ASSERT_EQ(first.gap_count, 1);
    EXPECT_EQ(first.gaps[0].offset_min, 2u);
    EXPECT_EQ(first.gaps[0].offset_max, 35u);
    for (const std::uint64_t index : {10, 20, 30, 41, 51})
        EXPECT_EQ(take(header(index, 10)).gap_count, 0) << index;
    EXPECT_EQ(take(header(63, 10)).gaps[0].lost_min, 2u) << "the first loss is used up";
}

TEST_F(FramingSequence, ALossIsPlacedAmongTheSamplesThatArrived)
{
    take(header(0, 100));
    Header late = header(400, 100); // 300 are missing, including samples 150 to 250
    late.loss = {-250, -150, 0, 9, Evidence::starvation};
    const BlockInfo info = take(late);
    ASSERT_EQ(info.gap_count, 2);
    EXPECT_LE(info.gaps[1].offset_min, 100u);
    EXPECT_GE(info.gaps[1].offset_max, 100u);
    EXPECT_LE(info.gaps[1].offset_max, 200u);
}

TEST_F(FramingSequence, ALossInADamagedBlockIsReportedBeforeTheNextBlock)
{
    take(header(0, 100));
    Header bad = header(100, 100);
    bad.loss = {20, 30, 0, 9, Evidence::starvation};
    sequence_tracker.damaged(bad);
    const BlockInfo info = take(header(200, 100));
    ASSERT_EQ(info.gap_count, 2);
    EXPECT_EQ(info.gaps[0].offset_min, 100u);
    EXPECT_EQ(info.gaps[0].offset_max, 100u);
}

TEST_F(FramingSequence, ALossThatBeganBeforeTheStreamWasJoinedHasNoMinimum)
{
    Header both = header(500, 10);
    both.loss = {-400, 4, 77, 80, Evidence::overflow_bit};
    const BlockInfo first = take(both);
    ASSERT_EQ(first.gap_count, 1);
    EXPECT_EQ(first.gaps[0].lost_min, 0u);
    EXPECT_EQ(first.gaps[0].lost_max, 80u);
    EXPECT_EQ(take(header(513, 10)).gap_count, 0);
}

TEST_F(FramingSequence, AnInterruptedStreamLeavesALossOfUnknownSize)
{
    take(header(0, 10));
    sequence_tracker.broken_off(7);
    sequence_tracker.expect(0);
    const BlockInfo first = take(header(0, 10));
    ASSERT_EQ(first.gap_count, 1);
    EXPECT_EQ(first.gaps[0].offset_min, 10u);
    EXPECT_EQ(first.gaps[0].lost_min, 7u);
    EXPECT_EQ(first.gaps[0].lost_max, kUnknown);
    EXPECT_FALSE(first.index_exact);
    EXPECT_EQ(take(header(10, 10)).gap_count, 0);
}

TEST_F(FramingSequence, ALossThatNoBlockFollowsRemains)
{
    take(header(0, 10));
    sequence_tracker.broken_off(0);
    ASSERT_EQ(sequence_tracker.left().size(), 1u);
    EXPECT_EQ(sequence_tracker.left()[0].lost_max, kUnknown);
}

TEST_F(FramingSequence, UncertaintyOnEitherSideMarksABlock)
{
    Header guessed = header(0, 10);
    guessed.flags = Header::index_guessed;
    EXPECT_FALSE(take(guessed).index_exact);
    Header unverified = header(10, 10);
    unverified.flags = Header::unverified;
    EXPECT_EQ(take(unverified).state, BlockState::unverified);
    const Header plain = header(20, 10);
    EXPECT_TRUE(sequence_tracker.account(plain));
    EXPECT_EQ(sequence_tracker.next(plain, {}, true).state, BlockState::unverified);
}

// The peer can send any values with a correct checksum. They cause no undefined behavior (this test
// also runs under ASan and UBSan), blocks follow each other, and gaps begin before they end. Claims
// that add up to more than 64 bits saturate.
TEST_F(FramingSequence, LossesNeverMakeTheIndexGoBack)
{
    std::uint64_t last = 0;
    for (int i = 0; i < 20; ++i) {
        Header h = header(kLastIndex, 10);
        h.sample_index = 10 * static_cast<std::uint64_t>(i);
        h.loss = {1, 2, kLastIndex, kLastIndex, Evidence::overflow_bit};
        const BlockInfo info = take(h);
        EXPECT_GE(info.sample_index, last);
        EXPECT_LT(info.sample_index, std::uint64_t{1} << 63);
        last = info.sample_index;
    }
    EXPECT_GT(last, kLastIndex);
}

TEST_F(FramingSequence, NoHeaderCorruptsTheAccounting)
{
    std::mt19937_64 random(1);
    const auto number = [&]() -> std::uint64_t {
        const std::uint64_t small = random() % 100;
        const std::uint64_t some[] = {random(), small, ~small,
                                      (std::uint64_t{1} << 63) - 50 + small};
        return some[random() % 4];
    };
    std::uint64_t sequence = 0, position = 0, taken = 0;
    for (int round = 0; round < 50'000; ++round) {
        if (round % 50 == 0) {
            sequence_tracker.reset(kSampleBytes);
            sequence = position = 0;
        }
        Header h = header(number(), static_cast<std::uint32_t>(1 + random() % 64));
        h.flags = static_cast<std::uint32_t>(random() % 8);
        const auto [low, high] =
            std::minmax({static_cast<std::int64_t>(number()), static_cast<std::int64_t>(number())});
        const auto [least, most] = std::minmax({number(), number()});
        if (random() % 2 == 0)
            h.loss = {low, high, least, most, Evidence::overflow_bit};
        if (random() % 10 == 0)
            sequence_tracker.broken_off(number());
        if (!sequence_tracker.account(h))
            continue;
        const BlockInfo info = sequence_tracker.next(h, {}, random() % 2 == 0);
        ++taken;
        EXPECT_EQ(info.sequence, sequence++);
        EXPECT_EQ(info.position, position);
        position += h.valid_bytes / kSampleBytes;
        for (std::size_t i = 0; i < info.gap_count; ++i) {
            EXPECT_LE(info.gaps[i].offset_min, info.gaps[i].offset_max);
            EXPECT_LE(info.gaps[i].lost_min, info.gaps[i].lost_max);
        }
    }
    EXPECT_GT(taken, 5'000u);
}

} // namespace
