// SPDX-License-Identifier: MIT
#include "file/sigmf/losses.hpp"
#include "support/blocks.hpp"

#include <gtest/gtest.h>

namespace iio_stream::file {
namespace {

constexpr std::size_t kBlock = test::kBytes / test::kSample;

class Losses : public ::testing::Test {
protected:
    Losses() { log_.begin(test::kSample, 1e6, false); }

    /// A block of the stream; `lost` samples before it are in its index.
    void note(std::uint64_t number, std::uint64_t lost, std::vector<Gap> gaps = {})
    {
        BlockInfo info;
        info.bytes = test::kBytes;
        info.sequence = number;
        info.position = number * kBlock;
        info.sample_index = info.position + lost;
        info.gap_count = static_cast<std::uint8_t>(gaps.size());
        std::copy(gaps.begin(), gaps.end(), info.gaps.begin());
        log_.note(std::move(*pool_.take()).fill(info));
    }

    BlockPool pool_ = test::pool_of(1);
    LossLog log_;
};

TEST_F(Losses, ALossInABlockThatWasDroppedLiesWhereThatWouldHaveBeen)
{
    note(0, 0);
    note(2, 10); // the one between has told of a loss of 10
    ASSERT_EQ(log_.outcome().losses.size(), 2u);
    std::uint64_t lost = 0;
    for (const Loss& loss : log_.outcome().losses) {
        EXPECT_EQ(loss.gap.offset_min, kBlock);
        EXPECT_EQ(loss.gap.offset_max, kBlock);
        lost += loss.gap.lost_min;
    }
    EXPECT_EQ(lost, kBlock + 10);
}

TEST_F(Losses, ALossThatMayLieInWhatWasDroppedBeginsBehindIt)
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

TEST_F(Losses, WhatWasDroppedBehindTheLastBlockLiesAtTheEnd)
{
    note(0, 0);
    log_.dropped(700);
    ASSERT_EQ(log_.outcome().losses.size(), 1u);
    const Loss& loss = log_.outcome().losses[0];
    EXPECT_EQ(loss.kind, Loss::Kind::dropped);
    EXPECT_EQ(loss.gap.offset_min, kBlock);
    EXPECT_EQ(loss.gap.lost_min, 700u);
}

} // namespace
} // namespace iio_stream::file
