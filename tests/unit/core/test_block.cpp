// SPDX-License-Identifier: MIT
#include "iio_stream/block.hpp"
#include "support/blocks.hpp"

#include <gtest/gtest.h>
#include <optional>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;

TEST(Block, TheLastReleaseReturnsTheBuffer)
{
    BlockPool pool = pool_of(1);
    std::optional<Block> a = fill(*pool.take(), std::byte{1});
    std::optional<Block> b = a->share();
    std::optional<Block> c = b->slice(1, 2, kSample);
    a.reset();
    b.reset();
    EXPECT_EQ(pool.available(), 0u);
    EXPECT_FALSE(pool.take().has_value());
    c.reset();
    EXPECT_EQ(pool.available(), 1u);
}

TEST(Block, MovingALeaseKeepsTheNumberOfLeases)
{
    BlockPool pool = pool_of(2);
    Block a = fill(*pool.take(), std::byte{1}, 1);
    Block b = fill(*pool.take(), std::byte{2}, 2);
    {
        Block c = std::move(a);
        c = std::move(b);
        EXPECT_EQ(c.sequence(), 2u);
    }
    EXPECT_EQ(pool.available(), 1u); // the assignment swapped the leases of b and c
    EXPECT_EQ(b.sequence(), 1u);     // NOLINT(bugprone-use-after-move)
}

TEST(Block, ASliceHasItsOwnPosition)
{
    BlockPool pool = pool_of(1);
    EmptyBlock block = *pool.take();
    BlockInfo info;
    info.bytes = 100 * kSample;
    info.position = 1000;
    info.sample_index = 5000;
    info.gap_count = 1;
    info.gaps[0] = {1000, 1000, 7, 7, Evidence::counter};
    {
        const CpuWrite out{block};
        for (std::size_t i = 0; i < info.bytes; ++i)
            out.bytes()[i] = static_cast<std::byte>(i);
    }
    const Block whole = std::move(block).fill(info);
    const Block slice = whole.slice(10, 20, kSample);
    EXPECT_EQ(slice.bytes(), 80u);
    EXPECT_EQ(slice.offset(), 40u);
    EXPECT_EQ(slice.position(), 1010u);
    EXPECT_EQ(slice.sample_index(), 5010u);
    EXPECT_TRUE(slice.gaps().empty());
    EXPECT_EQ(whole.slice(0, 20, kSample).gaps().size(),
              1u); // gaps stay with the slice that starts the block
    const Block inner = slice.slice(5, 1, kSample);
    EXPECT_EQ(inner.position(), 1015u);
    EXPECT_EQ(inner.offset(), 60u);
    EXPECT_EQ(CpuRead{inner}.bytes()[0], std::byte{60});
    EXPECT_EQ(inner.info().bytes, 4u);
    EXPECT_EQ(inner.info().position, 1015u);
    EXPECT_EQ(inner.info().gap_count, 0);
}

TEST(Block, TheIndexOfASliceIncludesEarlierLossesInItsBlock)
{
    BlockPool pool = pool_of(1);
    EmptyBlock block = *pool.take();
    BlockInfo info;
    info.bytes = 100 * kSample;
    info.position = 1000;
    info.sample_index = 5000;
    info.gap_count = 3;
    info.gaps[0] = {1000, 1000, 7, 7, Evidence::counter}; // before the block: in its index
    info.gaps[1] = {1010, 1010, 30, 30, Evidence::counter};
    info.gaps[2] = {1050, 1060, 1, 9, Evidence::overflow_bit};
    const Block whole = std::move(block).fill(info);
    EXPECT_EQ(whole.sample_index(), 5000u);
    EXPECT_EQ(whole.slice(9, 1, kSample).sample_index(), 5009u);
    EXPECT_EQ(whole.slice(10, 5, kSample).sample_index(), 5040u);
    EXPECT_EQ(whole.slice(10, 5, kSample).info().sample_index, 5040u);
    EXPECT_EQ(whole.slice(10, 60, kSample).slice(49, 1, kSample).sample_index(), 5089u);
    EXPECT_EQ(whole.slice(60, 1, kSample).sample_index(), 5091u);
}

TEST(Block, ALeaseOutlivesThePool)
{
    std::optional<BlockPool> pool = pool_of(2);
    Block lease = fill(*pool->take(), std::byte{42});
    EmptyBlock empty = *pool->take();
    pool.reset();
    {
        const CpuRead data{lease};
        EXPECT_EQ(data.bytes()[kBytes - 1], std::byte{42});
        const CpuWrite out{empty};
        out.bytes()[0] = std::byte{1};
    }
    BlockInfo info;
    info.bytes = 4;
    const Block later = std::move(empty).fill(info);
    EXPECT_EQ(CpuRead{later}.bytes()[0], std::byte{1});
}

} // namespace
