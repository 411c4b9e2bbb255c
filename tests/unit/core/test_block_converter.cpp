// SPDX-License-Identifier: MIT
#include "core/format/pattern.hpp"
#include "core/stream/block_converter.hpp"

#include <array>
#include <cstring>
#include <gtest/gtest.h>
#include <vector>

namespace {

using namespace iio_stream;

TEST(BlockConverter, AConvertedBlockIsInSeparateMemoryAndKeepsAllProperties)
{
    const Format from = Format::parse("ci16_le");
    detail::BlockConverter converter(from, "", "cf32_le");
    EXPECT_EQ(converter.format().name(), "cf32_le");
    EXPECT_EQ(converter.block_size(std::size_t{4000}), 8000u);
    converter.prepare(Memory{}, 4000, 2);

    BlockPool pool(Memory{}, 4000, 1, CpuUse::mapped);
    EmptyBlock block = *pool.take();
    {
        const CpuWrite out{block};
        detail::Generator(detail::Pattern::lanes, from, 0, 0).fill(out.bytes(), 0);
    }
    BlockInfo info;
    info.bytes = 2000; // a short block
    info.sequence = 3;
    info.position = 1000;
    info.sample_index = 1100;
    info.index_exact = false;
    info.state = BlockState::unverified;
    info.time = {Clock::realtime, 42, 7};
    info.gap_count = 1;
    info.gaps[0] = {1000, 1010, 5, 6, Evidence::starvation};
    const Block in = std::move(block).fill(info);

    ASSERT_TRUE(converter.ready());
    const Block out = converter.process(in);
    EXPECT_EQ(out.bytes(), 4000u);
    EXPECT_EQ(out.sequence(), 3u);
    EXPECT_EQ(out.position(), 1000u);
    EXPECT_EQ(out.sample_index(), 1100u);
    EXPECT_FALSE(out.index_exact());
    EXPECT_EQ(out.state(), BlockState::unverified);
    EXPECT_EQ(out.time().ns, 42);
    ASSERT_EQ(out.gaps().size(), 1u);
    EXPECT_EQ(out.gaps()[0].lost_max, 6u);
    const CpuRead a{in}, b{out};
    std::vector<std::byte> wanted(4000);
    Converter(from, "cf32_le").convert(a.bytes(), wanted);
    EXPECT_EQ(std::vector<std::byte>(b.bytes().begin(), b.bytes().end()), wanted);
}

TEST(BlockConverter, ChannelsAreSelectedByName)
{
    const Format from = Format::parse("ci16_le", "4");
    EXPECT_EQ(detail::BlockConverter(from, "voltage1_q,voltage1_i", "").format().name(), "ci16_le");
    EXPECT_EQ(detail::BlockConverter(from, "voltage0_q", "").format().name(), "ri16_le");
    EXPECT_EQ(detail::BlockConverter(from, "voltage0_q", "rf32_le").format().name(), "rf32_le");
    const detail::BlockConverter two(from, "voltage0_i,voltage1_i", "");
    EXPECT_EQ(two.format().channels[1].id, "voltage1_i");
    EXPECT_EQ(two.format().channels[1].offset, 2u);
    EXPECT_EQ(two.block_size(std::size_t{8000}), 4000u);
}

TEST(BlockConverter, ASliceIsConvertedWithItsOwnPosition)
{
    detail::BlockConverter converter(Format::parse("ri16_le"), "", "rf32_le");
    converter.prepare(Memory{}, 64, 1);
    BlockPool pool(Memory{}, 64, 1, CpuUse::mapped);
    EmptyBlock block = *pool.take();
    {
        const CpuWrite out{block};
        for (std::int16_t i = 0; i < 32; ++i)
            std::memcpy(&out.bytes()[static_cast<std::size_t>(i) * 2], &i, 2);
    }
    BlockInfo info;
    info.bytes = 64;
    info.gap_count = 1;
    const Block whole = std::move(block).fill(info);
    ASSERT_TRUE(converter.ready());
    const Block out = converter.process(whole.slice(10, 3, 2));
    EXPECT_EQ(out.bytes(), 12u);
    EXPECT_EQ(out.position(), 10u);
    EXPECT_TRUE(out.gaps().empty());
    const CpuRead data{out};
    std::array<float, 3> values;
    std::memcpy(values.data(), data.bytes().data(), 12);
    EXPECT_EQ(values, (std::array{10 / 32768.0F, 11 / 32768.0F, 12 / 32768.0F}));
}

TEST(BlockConverter, AConverterIsReadyWhileItHasABlockToConvertInto)
{
    detail::BlockConverter converter(Format::parse("ri16_le"), "", "rf32_le");
    converter.prepare(Memory{}, 64, 1);
    BlockPool pool(Memory{}, 64, 1, CpuUse::mapped);
    BlockInfo info;
    info.bytes = 64;
    const Block in = std::move(*pool.take()).fill(info);
    ASSERT_TRUE(converter.ready());
    ASSERT_TRUE(converter.ready()); // a second call does not take another block
    {
        const Block out = converter.process(in);
        EXPECT_FALSE(converter.ready());
    }
    EXPECT_TRUE(converter.ready());
}

} // namespace
