// SPDX-License-Identifier: MIT
#include "core/stream/sizing.hpp"
#include "support/errors.hpp"

#include <cstdint>
#include <gtest/gtest.h>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;
using detail::size_blocks;
using detail::Sizing;

constexpr std::size_t kKi = 1024, kMi = kKi * kKi;

Format format_of(const char* name, double rate, const char* channels = "")
{
    Format format = Format::parse(name, channels);
    format.sample_rate = rate;
    return format;
}

Sizing defaults(const Format& format, const BlockNeeds& needs = {})
{
    return size_blocks({}, format, needs);
}

double block_seconds(const Sizing& s, const Format& f)
{
    const std::size_t samples = s.block_size / f.sample_bytes;
    return static_cast<double>(samples) / f.sample_rate;
}

TEST(Sizing, At1MSps16BlocksOf64KiCover250Milliseconds)
{
    const Sizing s =
        defaults(format_of("ci16_le", 1e6)); // 10 ms are 40 000 bytes, which is below the minimum
    EXPECT_EQ(s.block_size, 64 * kKi);
    EXPECT_EQ(s.block_count, 16u); // 250 ms in blocks of 16.384 ms
    EXPECT_EQ(s.timeout_ns, 1'000'000'000 + 2 * 16'384'000);
}

TEST(Sizing, At30MSpsBlocksAreTenMilliseconds)
{
    const Format format = format_of("ci16_le", 30.72e6);
    const Sizing s = defaults(format);
    EXPECT_EQ(s.block_size, 300 * 4096u);
    EXPECT_NEAR(block_seconds(s, format), 0.010, 0.0001);
    EXPECT_EQ(s.block_count, 25u);
}

TEST(Sizing, AtHighRatesBlocksStayAt4MiAndTheirNumberRises)
{
    const Sizing s100 = defaults(format_of("ci16_le", 100e6)); // 10.5 ms
    EXPECT_EQ(s100.block_size, 4'000'000 / 4096 * 4096u);
    EXPECT_EQ(s100.block_count, 26u); // rounded up: a block is slightly shorter than 10 ms
    const Sizing s500 = defaults(format_of("ci16_le", 500e6));
    EXPECT_EQ(s500.block_size, 4 * kMi);
    EXPECT_EQ(s500.block_count, 64u);
}

TEST(Sizing, AtLowRatesABlockIsAtMostAQuarterSecond)
{
    const Format format = format_of("ci16_le", 1e3);
    const Sizing s = defaults(format);
    EXPECT_EQ(s.block_size, 1000u); // 250 samples
    EXPECT_EQ(s.block_count, 8u);
    EXPECT_EQ(s.timeout_ns, 1'500'000'000);
}

TEST(Sizing, AtTheLowestRatesABlockIsOneSample)
{
    const Sizing s = defaults(format_of("ci16_le", 1));
    EXPECT_EQ(s.block_size, 4u);
    EXPECT_EQ(s.block_count, 8u);
    EXPECT_EQ(s.timeout_ns, 3'000'000'000);
}

TEST(Sizing, ATinyRateDoesNotOverflowTheDeadline)
{
    const Sizing s = defaults(format_of("ci16_le", 1e-15));
    EXPECT_GT(s.timeout_ns, 0);
    EXPECT_LT(s.timeout_ns, INT64_MAX / 2); // this value is added to the current time
}

TEST(Sizing, WithoutARateTheDefaultsAre16BlocksOf1MiAnd5Seconds)
{
    const Sizing s = defaults(format_of("ci16_le", 0));
    EXPECT_EQ(s.block_size, kMi);
    EXPECT_EQ(s.block_count, 16u);
    EXPECT_EQ(s.timeout_ns, 5'000'000'000);
}

// 30.72 MS/s of 4 bytes: by default, a block has 300 pages, and there are 25 blocks.
Sizing sizing_of(std::uint64_t wanted_bytes, double extra_seconds = 0,
                 const PipelineConfig& config = {})
{
    BlockNeeds needs;
    needs.extra_seconds = extra_seconds;
    return size_blocks(config, format_of("ci16_le", 30.72e6), needs, wanted_bytes);
}

TEST(Sizing, AShortStreamHasBlocksForNoMoreThanItsSamples)
{
    EXPECT_EQ(sizing_of(4000).block_size, 4096u); // whole pages
    EXPECT_EQ(sizing_of(4000).block_count, 4u);
    EXPECT_EQ(sizing_of(4097).block_size, 8192u);
    const std::size_t block = sizing_of(kUnknown).block_size;
    EXPECT_EQ(sizing_of(block - 1).block_size, block);
    EXPECT_EQ(sizing_of(block).block_count, 4u);
}

TEST(Sizing, AShortStreamHasTwiceAsManyBlocksAsItFills)
{
    const std::size_t block = sizing_of(kUnknown).block_size;
    EXPECT_EQ(sizing_of(5 * block).block_count, 10u);
    EXPECT_EQ(sizing_of(5 * block + 1).block_count, 12u);
    EXPECT_EQ(sizing_of(100 * block).block_count, 25u);
    EXPECT_EQ(sizing_of(kUnknown - 1).block_count, 25u);
}

TEST(Sizing, AShortStreamHasBlocksForTheSamplesThatTheSourceNeedsAfterIt)
{
    const Sizing s = sizing_of(4000, 0.05);
    EXPECT_EQ(s.block_size, sizing_of(kUnknown).block_size); // 10 ms
    EXPECT_EQ(s.block_count, 1u + 5);
    EXPECT_EQ(sizing_of(4 * s.block_size, 0.05).block_count, 4u + 5);
    PipelineConfig zero_fill;
    zero_fill.on_gap = OnGap::zero_fill; // one more for the zeros
    EXPECT_EQ(sizing_of(4000, 0.05, zero_fill).block_count, 1u + 5 + 1);
    EXPECT_EQ(sizing_of(kUnknown, 0.05).block_count, 25u);
}

TEST(Sizing, TheUsersChoicesApplyToAShortStreamToo)
{
    PipelineConfig config;
    config.block_size = 64 * kKi;
    EXPECT_EQ(sizing_of(4000, 0, config).block_size, 64 * kKi);
    EXPECT_EQ(sizing_of(4000, 0, config).block_count, 4u);
    config.blocks = 20;
    EXPECT_EQ(sizing_of(4000, 0, config).block_count, 20u);
}

TEST(Sizing, TheLimitsOfTheDeviceApplyToAShortStreamToo)
{
    BlockNeeds needs;
    needs.align = 10'000;
    needs.max_bytes = 10'000;
    EXPECT_EQ(size_blocks({}, format_of("ci16_le", 1e6), needs, 4000).block_size, 10'000u);
    EXPECT_EQ(size_blocks({}, format_of("ci16_le", 1e3), {}, 4).block_size, 1000u); // 250 ms
}

TEST(Sizing, BlocksOfSixByteSamplesAreWholeSamplesAndWholePages)
{
    for (const double rate : {0.0, 10e3, 1e6, 10e6, 100e6}) {
        const Sizing s = defaults(format_of("ri16_le", rate, "3"));
        EXPECT_EQ(s.block_size % 6, 0u) << rate;
        EXPECT_NE(s.block_size, 0u);
        if (rate == 0 || rate >= 1e6) {
            EXPECT_EQ(s.block_size % 4096, 0u) << rate;
        }
    }
}

TEST(Sizing, TheAlignmentOfTheDeviceIsRespected)
{
    BlockNeeds needs;
    needs.align = 64;
    const Sizing s = defaults(format_of("ri16_le", 1e3, "3"), needs);
    EXPECT_EQ(s.unit_bytes, 192u);
    EXPECT_EQ(s.block_size % 192, 0u);
}

TEST(Sizing, TheLimitOfTheDeviceIsRespected)
{
    BlockNeeds needs;
    needs.max_bytes = 10'000;
    EXPECT_EQ(defaults(format_of("ri16_le", 1e6, "3"), needs).block_size, 9'996u);
    PipelineConfig config;
    config.block_size = 12'000;
    expect_usage_error([&] { size_blocks(config, format_of("ri16_le", 1e6, "3"), needs); }, "12000",
                       "limit of 10000");
}

TEST(Sizing, ADeviceWhoseLimitIsLessThanASampleIsRefused)
{
    BlockNeeds needs;
    needs.max_bytes = 4;
    expect_usage_error([&] { defaults(format_of("ri16_le", 1e6, "3"), needs); }, "4");
}

TEST(Sizing, ARefusedBlockSizeIsReportedWithTheNearestValidSizes)
{
    PipelineConfig config;
    config.block_size = 4'000'001;
    BlockNeeds needs;
    needs.align = 4096;
    expect_usage_error([&] { size_blocks(config, format_of("ci16_le", 0), needs); }, "4000001",
                       "multiple of 4096", "samples of 4 bytes", "DMA alignment of 4096",
                       "3904Ki or 3908Ki");
    config.block_size = 64 * kKi;
    expect_usage_error([&] { size_blocks(config, format_of("ri16_le", 0, "3"), {}); },
                       "65536 is not a multiple of 6", "65532 or 65538");
    config.block_size = 3;
    const Error error = error_of([&] { size_blocks(config, format_of("ci16_le", 0), {}); });
    EXPECT_NE(std::string(error.what()).find("such as 4)"), std::string::npos) << error.what();
}

TEST(Sizing, TheUsersChoicesAreKept)
{
    PipelineConfig config;
    config.block_size = 4;
    config.blocks = 2;
    config.timeout = std::chrono::milliseconds(7);
    const Sizing s = size_blocks(config, format_of("ci16_le", 1e6), {});
    EXPECT_EQ(s.block_size, 4u); // one sample
    EXPECT_EQ(s.block_count, 2u);
    EXPECT_EQ(s.timeout_ns, 7'000'000);
}

TEST(Sizing, AnInfiniteTimeoutDoesNotOverflow)
{
    PipelineConfig config;
    config.timeout = std::chrono::nanoseconds::max();
    EXPECT_LT(size_blocks(config, format_of("ci16_le", 1e6), {}).timeout_ns, INT64_MAX / 2);
}

TEST(Sizing, BlockCountsOutOfRangeAreRefused)
{
    PipelineConfig config;
    for (const std::size_t count : {1u, 1025u}) {
        config.blocks = count;
        expect_usage_error([&] { size_blocks(config, format_of("ci16_le", 1e6), {}); },
                           "blocks=" + std::to_string(count), "2 to 1024");
    }
}

TEST(Sizing, BlocksBeyondTheAddressSpaceAreRefusedWithoutWrappingAround)
{
    PipelineConfig config;
    config.block_size = (SIZE_MAX >> 6) + 1 + 4096; // 64 times this size wraps around to 256 Ki
    config.blocks = 64;
    expect_usage_error([&] { size_blocks(config, format_of("ci16_le", 1e6), {}); }, "64",
                       "block size");
}

} // namespace
