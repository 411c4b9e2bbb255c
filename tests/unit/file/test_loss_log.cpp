// SPDX-License-Identifier: MIT
#include "file/sigmf/loss_log.hpp"
#include "support/blocks.hpp"

#include <cstdlib>
#include <gtest/gtest.h>

namespace iio_stream::file {
namespace {

constexpr std::size_t kBlock = test::kBytes / test::kSample;

class Losses : public ::testing::Test {
protected:
    Losses() { log_.begin(test::kSample, 1e6, false, false); }

    /// Notes a block of the stream. Its index includes `lost` samples that were lost before it.
    void note(std::uint64_t number, std::uint64_t lost, std::vector<Gap> gaps = {},
              std::uint64_t losses_final = kUnknown)
    {
        BlockInfo info;
        info.bytes = test::kBytes;
        info.sequence = number;
        info.position = number * kBlock;
        info.sample_index = info.position + lost;
        info.losses_final_before = losses_final;
        info.gap_count = static_cast<std::uint8_t>(gaps.size());
        std::copy(gaps.begin(), gaps.end(), info.gaps.begin());
        log_.note(std::move(*pool_.take()).fill(info));
    }

    /// Notes zeros before a block of the stream, from `index` on.
    void zeros(std::uint64_t number, std::uint64_t index, std::uint64_t samples)
    {
        BlockInfo info;
        info.bytes = samples * test::kSample;
        info.sequence = kUnknown;
        info.position = number * kBlock;
        info.sample_index = index;
        log_.note(std::move(*pool_.take()).fill(info));
    }

    BlockPool pool_ = test::pool_of(1);
    LossLog log_;
};

TEST_F(Losses, ALossInADroppedBlockIsAtThePlaceOfThatBlock)
{
    note(0, 0);
    note(2, 10); // the block between them has reported a loss of 10 samples
    ASSERT_EQ(log_.outcome().losses.size(), 2u);
    std::uint64_t lost = 0;
    for (const Loss& loss : log_.outcome().losses) {
        EXPECT_EQ(loss.gap.offset_min, kBlock);
        EXPECT_EQ(loss.gap.offset_max, kBlock);
        lost += loss.gap.lost_min;
    }
    EXPECT_EQ(lost, kBlock + 10);
}

TEST_F(Losses, ALossInABlockDroppedBetweenTwoFilesIsCountedOnce)
{
    note(0, 0);
    LossLog before = log_;
    log_.begin(test::kSample, 1e6, false, false);
    log_.follow(before);
    note(2, 10); // the block between them has reported a loss of 10 samples
    std::uint64_t lost = 0;
    for (const Loss& loss : log_.outcome().losses)
        lost += loss.gap.lost_min;
    EXPECT_EQ(lost, kBlock + 10);
    EXPECT_EQ(log_.outcome().first_index, kBlock);
}

TEST_F(Losses, LossesFinalBeforeCountsTheSamplesOfTheFile)
{
    note(0, 0);
    EXPECT_EQ(log_.losses_final_before(), kBlock);
    note(1, 0, {}, kBlock + 3);
    EXPECT_EQ(log_.losses_final_before(), kBlock + 3);
    note(3, 0, {}, 2 * kBlock); // a block was dropped: the position is at its place or before
    EXPECT_LE(log_.losses_final_before(), 2 * kBlock);
    EXPECT_GE(log_.losses_final_before(), kBlock + 3);
    note(4, 0, {}, 5 * kBlock - 1);
    EXPECT_EQ(log_.losses_final_before(), 4 * kBlock - 1);
}

TEST_F(Losses, LossesFinalBeforeIncludesZeros)
{
    log_.begin(test::kSample, 1e6, false, true);
    note(0, 0, {}, kBlock - 1);
    zeros(1, kBlock, kBlock);
    note(1, kBlock, {}, kBlock - 1); // the last sample before the zeros
    EXPECT_LE(log_.losses_final_before(), kBlock - 1);
    note(2, kBlock, {}, kBlock + 1); // the second sample after them
    EXPECT_EQ(log_.losses_final_before(), 2 * kBlock + 1);
}

TEST_F(Losses, ALossThatCanBeInDroppedBlocksBeginsAfterThem)
{
    note(0, 0);
    note(2, 0, {{kBlock + 5, 2 * kBlock + 7, 3, 3, Evidence::starvation}});
    ASSERT_EQ(log_.outcome().losses.size(), 2u);
    const Gap& dropped = log_.outcome().losses[0].gap;
    EXPECT_EQ(dropped.offset_max, kBlock);
    EXPECT_EQ(dropped.lost_max, kBlock);
    const Gap& gap = log_.outcome().losses[1].gap;
    EXPECT_EQ(gap.offset_min, kBlock);
    EXPECT_EQ(gap.offset_max, kBlock + 7);
    EXPECT_EQ(gap.lost_min, 3u);
}

TEST_F(Losses, DropsAfterTheLastBlockAreAtTheEnd)
{
    note(0, 0);
    log_.add_trailing_drops(700);
    ASSERT_EQ(log_.outcome().losses.size(), 1u);
    const Loss& loss = log_.outcome().losses[0];
    EXPECT_EQ(loss.kind, Loss::Kind::dropped);
    EXPECT_EQ(loss.gap.offset_min, kBlock);
    EXPECT_EQ(loss.gap.lost_min, 700u);
}

TEST_F(Losses, ACaptureHasTheTimeOfItsFirstSampleHoweverEarlyTheReport)
{
    log_.begin(test::kSample, 1e6, true, false);
    constexpr std::int64_t kStart = 1'000'000'000'000, kSampleNs = 1000;
    constexpr std::uint64_t kLost = 480'000;
    const auto block = [&](std::uint64_t number, std::uint64_t lost, std::vector<Gap> gaps = {}) {
        BlockInfo info;
        info.bytes = test::kBytes;
        info.sequence = number;
        info.position = info.sample_index = number * kBlock;
        const std::uint64_t last = info.position + kBlock - 1 + lost;
        info.time.ns = kStart + static_cast<std::int64_t>(last) * kSampleNs;
        info.time.clock = Clock::realtime;
        info.gap_count = static_cast<std::uint8_t>(gaps.size());
        std::copy(gaps.begin(), gaps.end(), info.gaps.begin());
        log_.note(std::move(*pool_.take()).fill(info));
    };
    const std::uint64_t until = 4 * kBlock + 5; // certainly after the loss, which is before block 1
    block(0, 0);
    block(1, kLost, {{kBlock, until, 1, kLost + 100, Evidence::overflow_bit}});
    for (std::uint64_t number = 2; number < 6; ++number)
        block(number, kLost);
    block(6, kLost, {{until + 7, until + 7, 0, 1, Evidence::overflow_bit}}); // reported late
    const auto taken = [&](std::uint64_t sample) {
        return kStart + static_cast<std::int64_t>(sample + kLost) * kSampleNs;
    };
    const auto& losses = log_.outcome().losses;
    ASSERT_EQ(losses.size(), 2u);
    EXPECT_LE(std::abs(losses[0].utc_ns - taken(until)), kSampleNs);
    EXPECT_LE(std::abs(losses[1].utc_ns - taken(until + 7)), kSampleNs);
}

TEST_F(Losses, APossibleLossInADroppedBlockIsReportedWithTheDrop)
{
    note(0, 0);
    BlockInfo info;
    info.bytes = test::kBytes;
    info.sequence = 2;
    info.position = info.sample_index = 2 * kBlock;
    info.index_exact = false; // the block between them has reported a possible loss
    log_.note(std::move(*pool_.take()).fill(info));
    ASSERT_EQ(log_.outcome().losses.size(), 2u);
    EXPECT_EQ(log_.outcome().losses[0].gap.lost_min, kBlock);
    EXPECT_EQ(log_.outcome().losses[1].gap.lost_min, 0u);
    EXPECT_EQ(log_.outcome().losses[1].gap.lost_max, kUnknown);
}

TEST_F(Losses, DroppedZerosAreMissingLikeSamples)
{
    log_.begin(test::kSample, 1e6, false, true);
    note(0, 0);
    zeros(1, kBlock + 300, 200); // of 700 zeros, the first 300 and the last 200 were dropped
    note(1, 700, {{kBlock, kBlock, 700, 700, Evidence::counter}});
    const auto& losses = log_.outcome().losses;
    ASSERT_EQ(losses.size(), 3u);
    EXPECT_EQ(losses[0].kind, Loss::Kind::dropped);
    EXPECT_EQ(losses[0].gap.offset_min, kBlock);
    EXPECT_EQ(losses[0].gap.lost_min, 300u);
    EXPECT_EQ(losses[1].kind, Loss::Kind::filled);
    EXPECT_EQ(losses[2].kind, Loss::Kind::dropped);
    EXPECT_EQ(losses[2].gap.offset_min, kBlock + 200);
    EXPECT_EQ(losses[2].gap.lost_min, 200u);
    EXPECT_EQ(losses[2].gap.lost_max, 200u);
}

TEST_F(Losses, ALossThatZerosCannotReplaceIsAPossibleLossAtTheirPlace)
{
    log_.begin(test::kSample, 1e6, false, true);
    note(0, 0);
    zeros(1, kBlock, 5);
    note(1, 5, {{kBlock, kBlock, 5, 9, Evidence::counter}});
    ASSERT_EQ(log_.outcome().losses.size(), 2u);
    const Gap& gap = log_.outcome().losses[1].gap;
    EXPECT_EQ(gap.offset_max, kBlock + 5);
    EXPECT_EQ(gap.lost_min, 0u);
    EXPECT_EQ(gap.lost_max, 4u);
}

} // namespace
} // namespace iio_stream::file
