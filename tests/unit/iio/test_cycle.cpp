// SPDX-License-Identifier: MIT
#include "iio/playback/cycle.hpp"
#include "support/blocks.hpp"
#include "support/errors.hpp"

#include <cstring>
#include <gtest/gtest.h>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;

struct Cycle : testing::Test {
    /// Keeps a block of `bytes` bytes, which continue where the previous block ended.
    void keep(std::size_t bytes)
    {
        auto block = pool.take();
        ASSERT_TRUE(block);
        BlockInfo info;
        info.bytes = bytes;
        {
            const CpuWrite out{*block};
            for (std::size_t i = 0; i < bytes; ++i) {
                out.bytes()[i] = static_cast<std::byte>(given.size() * 7 / 3);
                given.push_back(out.bytes()[i]);
            }
        }
        cycle.keep(std::move(*block).fill(info));
    }
    /// Returns the bytes that the device gets in one pass through all entries.
    std::vector<std::byte> pass() const
    {
        std::vector<std::byte> all;
        for (const iio::Cycle::Entry& entry : cycle.entries()) {
            const auto data = pool.mapping(entry.index).first(entry.bytes);
            all.insert(all.end(), data.begin(), data.end());
        }
        return all;
    }
    void expect_seamless(std::size_t align) const
    {
        EXPECT_GE(cycle.entries().size(), 2u);
        const auto all = pass();
        ASSERT_EQ(all.size() % given.size(), 0u);
        for (std::size_t i = 0; i < all.size(); ++i)
            ASSERT_EQ(all[i], given[i % given.size()]) << i;
        std::vector<bool> seen(pool.count());
        for (const iio::Cycle::Entry& entry : cycle.entries()) {
            EXPECT_EQ(entry.bytes % align, 0u);
            EXPECT_FALSE(seen[entry.index]) << "a device holds each block only once";
            seen[entry.index] = true;
        }
    }

    BlockPool pool = pool_of(8);
    iio::Cycle cycle;
    std::vector<std::byte> given;
};

TEST_F(Cycle, ASingleBlockIsFollowedByCopiesOfIt)
{
    cycle.reset(pool, 8, "dac");
    keep(kBytes);
    cycle.close();
    expect_seamless(8);
    EXPECT_EQ(cycle.entries().size(), 8u);
}

TEST_F(Cycle, FewSamplesAreRepeatedUntilTheyFillTheBlocks)
{
    for (const std::size_t bytes : {8u, 16u, 1000u, 4088u}) {
        cycle.reset(pool, 8, "dac");
        given.clear();
        keep(bytes);
        cycle.close();
        expect_seamless(8);
        EXPECT_GE(pass().size(), 7 * kBytes - bytes);
        cycle.clear();
        EXPECT_EQ(pool.available(), 8u);
    }
}

TEST_F(Cycle, AShortLastBlockIsNeverEnqueuedAlone)
{
    cycle.reset(pool, 8, "dac");
    keep(kBytes);
    keep(8);
    cycle.close();
    expect_seamless(8);
    for (std::size_t i = 2; i < cycle.entries().size(); ++i)
        EXPECT_GT(cycle.entries()[i].bytes, kBytes / 2);
}

TEST_F(Cycle, SamplesThatFillTheBlocksAreRepeatedUnchanged)
{
    cycle.reset(pool, 8, "dac");
    for (int i = 0; i < 6; ++i)
        keep(kBytes);
    keep(104);
    cycle.close();
    expect_seamless(8);
    EXPECT_EQ(cycle.entries().size(), 7u);
}

TEST_F(Cycle, SeveralRoundsAreJoinedIfTheDeviceRejectsTheLengthOfOne)
{
    for (const std::size_t bytes : {2u, 6u, 1002u, 4002u}) {
        cycle.reset(pool, 8, "dac");
        given.clear();
        keep(bytes);
        cycle.close();
        expect_seamless(8);
        cycle.clear();
    }
}

TEST_F(Cycle, SamplesThatCannotBeRepeatedAreRefused)
{
    cycle.reset(pool, 8, "dac");
    for (int i = 0; i < 6; ++i)
        keep(kBytes);
    keep(2);
    expect_usage_error([&] { cycle.close(); }, "multiples of 8");
    cycle.reset(pool, 8, "dac");
    for (int i = 0; i < 7; ++i)
        keep(kBytes);
    expect_usage_error([&] { keep(kBytes); }, "loop=on");
    cycle.reset(pool, 8, "dac");
    keep(kBytes);
    std::vector<EmptyBlock> taken;
    while (auto block = pool.take())
        taken.push_back(std::move(*block));
    EXPECT_EQ(error_of([&] { cycle.close(); }).code().value(), ENOBUFS);
}

TEST_F(Cycle, RoundsAreCountedByTheBytesPlayed)
{
    cycle.reset(pool, 8, "dac");
    keep(kBytes);
    keep(1000);
    cycle.close();
    EXPECT_EQ(cycle.waiting(), 2u);
    cycle.played(kBytes);
    EXPECT_EQ(cycle.waiting(), 1u);
    cycle.played(992);
    EXPECT_EQ(cycle.waiting(), 1u);
    cycle.played(8);
    EXPECT_EQ(cycle.waiting(), 0u);
    EXPECT_EQ(cycle.repeats(), 0u);
    cycle.played(3 * (kBytes + 1000) - 1);
    EXPECT_EQ(cycle.repeats(), 2u);
    cycle.played(1);
    EXPECT_EQ(cycle.repeats(), 3u);
}

} // namespace
