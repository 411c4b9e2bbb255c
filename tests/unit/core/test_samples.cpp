// SPDX-License-Identifier: MIT
#include "iio_stream/reader.hpp"
#include "iio_stream/samples.hpp"
#include "support/errors.hpp"
#include "support/fake.hpp"

#include <array>
#include <complex>
#include <gtest/gtest.h>
#include <numeric>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;
using namespace std::chrono_literals;

using Pair = std::complex<std::int16_t>;

// The ramp of the fake source consists of 64-bit words of two samples each: the lower half of word
// n is sample 2n, and the upper half is 0.
std::uint32_t ramp_at(std::uint64_t sample)
{
    return sample % 2 == 0 ? static_cast<std::uint32_t>(sample / 2) : 0;
}

// The 32 bits of a sample, with I in the lower half.
std::uint32_t number_of(const Pair& sample)
{
    return static_cast<std::uint16_t>(sample.real()) |
           std::uint32_t{static_cast<std::uint16_t>(sample.imag())} << 16;
}

Reader reader_of(FakeSource::Script script)
{
    return Reader(config_of(fake_source(std::move(script)).uri, {}));
}

TEST(Samples, SamplesOfABlockAreViewedInPlace)
{
    Reader reader = reader_of({.total = 5000});
    std::uint32_t next = 0;
    for (const Block& block : reader) {
        const auto samples = block.as<Pair>();
        EXPECT_EQ(samples.size(), block.samples());
        for (const Pair& sample : samples)
            ASSERT_EQ(number_of(sample), ramp_at(next++));
        ASSERT_EQ(number_of(samples[0]), ramp_at(block.position()));
    }
    EXPECT_EQ(next, 5000u);
}

TEST(Samples, IqPairsCanBeViewedAsScalars)
{
    Reader reader = reader_of({.total = 1024});
    const auto block = reader.next(30s);
    const auto values = block->as<std::int16_t>();
    EXPECT_EQ(values.size(), 2048u);
    EXPECT_EQ(values[2 * 700], 350);
}

TEST(Samples, ASliceHasItsOwnSamples)
{
    Reader reader = reader_of({.total = 1024});
    const Block part = reader.next(30s)->slice(100, 50, 4);
    EXPECT_EQ(part.as<Pair>().size(), 50u);
    EXPECT_EQ(number_of(part.as<Pair>()[0]), ramp_at(100));
}

TEST(Samples, AnotherTypeIsRefusedWithBothNames)
{
    Reader reader = reader_of({});
    const auto block = reader.next(30s);
    expect_usage_error([&] { (void)block->as<std::complex<float>>(); }, "std::complex<float>",
                       "ci16_le, std::complex<std::int16_t>");
    expect_usage_error([&] { (void)block->as<std::uint16_t>(); }, "std::uint16_t", "ci16_le");
    expect_usage_error([&] { (void)block->as<std::int32_t>(); }, "std::int32_t", "ci16_le");
    Reader reals = reader_of({.format_ = Format::parse("ri16_le", "2")});
    expect_usage_error([&] { (void)reals.next(30s)->as<Pair>(); }, "std::complex<std::int16_t>",
                       "ri16_le");
}

TEST(Samples, MixedOrForeignTypesAreRefused)
{
    Reader mixed = reader_of({.format_ = Format::parse("le:s16/16>>0,le:s32/32>>0")});
    expect_usage_error([&] { (void)mixed.next(30s)->as<std::int16_t>(); },
                       "le:s16/16>>0,le:s32/32>>0");
    Reader swapped = reader_of({.format_ = Format::parse("ri16_be", "2")});
    expect_usage_error([&] { (void)swapped.next(30s)->as<std::int16_t>(); }, "ri16_be");
    BlockPool pool(Memory{}, 4096, 2, CpuUse::mapped);
    const auto block = pool.take();
    EXPECT_EQ(block->samples(), 0u);
    expect_usage_error([&] { (void)block->as<std::int16_t>(); },
                       "format of the block is not known");
}

TEST(Read, SamplesAreReadAcrossBlocksWithFullScaleOne)
{
    Reader reader = reader_of({.total = 100'000});
    std::vector<std::complex<float>> samples(3000);
    std::uint32_t next = 0;
    for (ReadResult got; (got = reader.read(samples, 30s)).count != 0;) {
        EXPECT_EQ(got.sample_index, next);
        EXPECT_EQ(got.count, std::min<std::size_t>(3000, 100'000 - next));
        EXPECT_EQ(got.ended, got.count < 3000);
        for (std::size_t i = 0; i < got.count; ++i, ++next) {
            ASSERT_EQ(samples[i].real() * 32768, static_cast<std::int16_t>(ramp_at(next)));
            ASSERT_EQ(samples[i].imag() * 32768, static_cast<std::int16_t>(ramp_at(next) >> 16));
        }
    }
    EXPECT_EQ(next, 100'000u);
    EXPECT_TRUE(reader.read(samples, 30s).ended);
}

TEST(Read, TheRequestedTypeIsReturned)
{
    Reader reader = reader_of({.total = 5000});
    std::array<Pair, 1500> pairs;
    std::array<double, 3000> values;
    EXPECT_EQ(reader.read(pairs, 30s).count, 1500u);
    EXPECT_EQ(number_of(pairs[1498]), ramp_at(1498));
    EXPECT_EQ(reader.read(values, 30s).count, 3000u); // 1500 samples
    EXPECT_EQ(values[2 * 1498] * 32768, ramp_at(1500 + 1498));
}

TEST(Read, EachLossIsCountedOnce)
{
    Reader reader =
        reader_of({.total = 20'000,
                   .losses = {{.at = 1500, .samples = 10},
                              {.at = 5000, .samples = 7, .reported = Gap{4900, 4990, 1, 9}}}});
    std::vector<std::complex<float>> samples(500);
    std::uint64_t count = 0, gaps = 0, least = 0, most = 0;
    std::uint64_t index = 0;
    for (ReadResult got; (got = reader.read(samples, 30s)).count != 0; count += got.count) {
        gaps += got.gaps;
        least += got.lost_min;
        most += got.lost_max;
        if (count == 1500)
            index = got.sample_index;
    }
    EXPECT_EQ(count, 20'000u - 17);
    EXPECT_EQ(gaps, 2u);
    EXPECT_EQ(least, 11u);
    EXPECT_EQ(most, 19u);
    EXPECT_EQ(index, 1510u);
}

TEST(Read, ATimeoutReturnsTheSamplesThatHaveArrived)
{
    Reader reader = reader_of({.silent_at = 1024, .unhurried = true});
    std::vector<std::complex<float>> samples(3000);
    const ReadResult got = reader.read(samples, 50ms);
    EXPECT_EQ(got.count, 1024u);
    EXPECT_FALSE(got.ended);
}

TEST(Read, SamplesBeforeAnErrorAreReturnedFirst)
{
    Reader reader = reader_of({.fail_at = 2048});
    std::vector<std::complex<float>> samples(3000);
    EXPECT_EQ(reader.read(samples, 30s).count, 2048u);
    EXPECT_EQ(error_of([&] { (void)reader.read(samples, 30s); }).code().value(), ENODEV);
}

TEST(Read, NextIsRefusedUntilReadHasReturnedTheRestOfABlock)
{
    Reader reader = reader_of({});
    std::vector<Pair> samples(100);
    (void)reader.read(samples, 30s);
    expect_usage_error([&] { (void)reader.next(30s); }, "924 samples", "read()");
    std::vector<Pair> others(924);
    (void)reader.read(others, 30s);
    EXPECT_EQ(reader.next(30s)->position(), 1024u);
}

TEST(Read, PairsOfRealsAndHalfSamplesAreRefused)
{
    Reader reals = reader_of({.format_ = Format::parse("ri16_le", "2")});
    std::vector<std::complex<float>> pairs(10);
    expect_usage_error([&] { (void)reals.read(pairs); }, "I/Q pairs", "ri16_le");
    std::vector<float> three(3);
    expect_usage_error([&] { (void)reals.read(three); }, "12 bytes", "samples of 8 bytes");
}

} // namespace
