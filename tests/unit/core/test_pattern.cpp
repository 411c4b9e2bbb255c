// SPDX-License-Identifier: MIT
#include "core/format/pattern.hpp"
#include "core/format/stored_value.hpp"
#include "support/errors.hpp"
#include "support/values.hpp"

#include <bit>
#include <cmath>
#include <complex>
#include <cstring>
#include <gtest/gtest.h>
#include <numbers>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;
using detail::Generator;
using detail::Pattern;

std::vector<std::byte> generate(Pattern pattern, const Format& format, std::uint64_t first,
                                std::size_t samples, double frequency = 0, std::uint64_t seed = 1)
{
    std::vector<std::byte> out(samples * format.sample_bytes, std::byte{0xee});
    Generator(pattern, format, frequency, seed).fill(out, first);
    return out;
}

TEST(Pattern, NamesAreParsedAndTyposGetASuggestion)
{
    EXPECT_EQ(detail::parse_pattern("pattern", "ramp"), Pattern::ramp);
    EXPECT_EQ(detail::parse_pattern("pattern", "noise"), Pattern::noise);
    expect_usage_error([] { detail::parse_pattern("pattern", "rampp"); }, "pattern=rampp",
                       "did you mean 'ramp'?");
}

TEST(Pattern, TheRampCountsInLittleEndianWords)
{
    const auto out = generate(Pattern::ramp, Format::parse("ci16_le"), 0, 8);
    for (std::uint64_t word = 0; word < 4; ++word) {
        std::uint64_t found;
        std::memcpy(&found, out.data() + word * 8, 8);
        EXPECT_EQ(found, word);
    }
}

TEST(Pattern, EveryPatternIsIndependentOfWhereItIsSplit)
{
    for (const Pattern pattern : {Pattern::ramp, Pattern::lanes, Pattern::tone, Pattern::noise})
        for (const char* name :
             {"le:s16/16,le:s16/16,le:s16/16", "le:s16/16", "le:s16/16,le:s32/32"}) {
            Format format = Format::parse(name);
            format.sample_rate = 1e6;
            const std::uint64_t start = 1'000'003;
            const auto whole = generate(pattern, format, start, 2000, 12'345);
            for (const std::size_t cut : {1u, 7u, 511u, 512u, 1333u}) {
                auto parts = generate(pattern, format, start, cut, 12'345);
                const auto rest = generate(pattern, format, start + cut, 2000 - cut, 12'345);
                parts.insert(parts.end(), rest.begin(), rest.end());
                if (pattern != Pattern::tone) {
                    ASSERT_EQ(parts, whole) << static_cast<int>(pattern) << " " << name << cut;
                    continue;
                }
                // The tone rounds the last bits of its rotation, so it can be off by one step.
                for (std::size_t i = 0; i < 2000; ++i)
                    for (const Channel& c : format.channels) {
                        const std::size_t at = i * format.sample_bytes + c.offset;
                        ASSERT_LE(std::abs(integer_of(c.type, &parts[at]) -
                                           integer_of(c.type, &whole[at])),
                                  1);
                    }
            }
        }
}

TEST(Pattern, TheRampIsByteExactAtAnyOffset)
{
    std::vector<std::byte> whole(4096);
    detail::fill_ramp(whole, 0);
    for (std::size_t start = 0; start < 20; ++start)
        for (std::size_t length = 0; length < 40; ++length) {
            std::vector<std::byte> part(length);
            detail::fill_ramp(part, start);
            ASSERT_TRUE(std::equal(part.begin(), part.end(),
                                   whole.begin() + static_cast<std::ptrdiff_t>(start)))
                << start << "+" << length;
        }
}

TEST(Pattern, TheRampContinuesBeyondTwoToTheThirtyTwoWords)
{
    const std::uint64_t word = (std::uint64_t{1} << 32) + 5;
    std::uint64_t found[2];
    std::vector<std::byte> out(16);
    detail::fill_ramp(out, word * 8);
    std::memcpy(found, out.data(), 16);
    EXPECT_EQ(found[0], word);
    EXPECT_EQ(found[1], word + 1);
}

TEST(Pattern, LanesCarryTheChannelInTheTopBitsAndTheCounterBelow)
{
    for (const char* type :
         {"le:s16/16>>0", "be:s16/16>>0", "le:s12/16>>0", "le:s12/16>>4", "be:s12/16>>4",
          "le:u12/16>>4", "be:u24/32>>8", "le:s24/32>>0", "le:u32/32>>0", "le:s5/8>>0",
          "le:u8/8>>0", "be:s64/64>>0", "le:s40/64>>13"}) {
        const std::string list = std::string(type) + "," + type + "," + type;
        const Format format = Format::parse(list);
        const std::uint64_t first = 4090;
        const auto out = generate(Pattern::lanes, format, first, 20);
        for (std::uint64_t i = 0; i < 20; ++i)
            for (const Channel& c : format.channels) {
                const unsigned below = c.type.bits - 4;
                const auto value = static_cast<std::uint64_t>(
                    integer_of(c.type, &out[i * format.sample_bytes + c.offset]));
                ASSERT_EQ(value >> below & 15, c.scan_index) << type;
                const std::uint64_t mask = (std::uint64_t{1} << below) - 1;
                ASSERT_EQ(value & mask, (first + i) & mask) << type;
            }
    }
}

TEST(Pattern, SignedStorageIsSignExtendedIntoItsUnusedBits)
{
    const ScanType type = ScanType::parse("le:s12/16>>0");
    std::byte at[2];
    detail::store_value(type, 0x800, at);
    EXPECT_EQ(at[1], std::byte{0xf8});
    detail::store_value(ScanType::parse("le:u12/16>>0"), 0x800, at);
    EXPECT_EQ(at[1], std::byte{0x08});
}

TEST(Pattern, LanesNeedIntegersOfMoreThanFourBits)
{
    for (const char* name : {"cf32_le", "le:s4/8>>0", "le:s16/16,le:u3/8"})
        expect_usage_error([&] { Generator(Pattern::lanes, Format::parse(name), 0, 0); },
                           "pattern=lanes", "more than 4 bits");
}

TEST(Pattern, TheStampWritesNothingBetweenItsWords)
{
    const Format format = Format::parse("ci16_le");
    const auto out = generate(Pattern::stamp, format, 1000, 4096); // from byte 4000 on
    for (std::size_t i = 0; i < out.size(); ++i) {
        const std::size_t position = 4000 + i;
        if (position % 4096 >= 8) {
            ASSERT_EQ(out[i], std::byte{0xee}) << i;
            continue;
        }
        ASSERT_EQ(out[i], static_cast<std::byte>(position / 8 >> position % 8 * 8)) << i;
    }
}

TEST(Pattern, TheToneKeepsItsFrequencyAndLevelOverMillionsOfSamples)
{
    Format format = Format::parse("ci16_le");
    format.sample_rate = 1e6;
    const double frequency = -123'456.7;
    const std::uint64_t first = 50'000'001;
    const auto out = generate(Pattern::tone, format, first, 3000, frequency);
    for (std::size_t i = 0; i < 3000; ++i) {
        const auto n = static_cast<long double>(first + i);
        const long double turns = n * static_cast<long double>(frequency) / 1e6L;
        const auto phase = static_cast<double>((turns - std::floor(turns)) * 2) * std::numbers::pi;
        const auto wanted = std::polar(32768 * 0.5011872336272722, phase);
        const std::byte* at = &out[i * 4];
        ASSERT_NEAR(static_cast<double>(integer_of(format.channels[0].type, at)), wanted.real(),
                    1.0)
            << i;
        ASSERT_NEAR(static_cast<double>(integer_of(format.channels[1].type, at + 2)), wanted.imag(),
                    1.0);
    }
}

TEST(Pattern, TheToneIsTheSameInEveryScanType)
{
    for (const char* name :
         {"le:s12/16>>4", "be:u12/16>>0", "le:u8/8", "le:s32/32", "le:u64/64", "be:s64/64"}) {
        Format format = Format::parse(name);
        format.sample_rate = 1e6;
        const ScanType& type = format.channels[0].type;
        const double scale = std::ldexp(1.0, static_cast<int>(type.bits) - 1);
        const auto out = generate(Pattern::tone, format, 0, 100, 10e3);
        for (std::size_t i = 0; i < 100; ++i) {
            double value = static_cast<double>(integer_of(type, &out[i * format.sample_bytes]));
            if (type.number == ScanType::Number::unsigned_integer)
                value = (type.bits == 64 && value < 0 ? value + 0x1p64 : value) - scale;
            const double wanted =
                0.5011872336272722 * std::cos(2 * std::numbers::pi * 0.01 * static_cast<double>(i));
            ASSERT_NEAR(value / scale, wanted, 1.0 / scale + 1e-12) << name << " " << i;
        }
    }
}

TEST(Pattern, AFloatToneHasTheByteOrderOfItsFormat)
{
    for (const char* name : {"rf32_le", "rf32_be", "rf64_le", "rf64_be"}) {
        Format format = Format::parse(name);
        format.sample_rate = 4;
        const auto out = generate(Pattern::tone, format, 0, 1, 1);
        std::vector<std::byte> bytes = out;
        if (format.channels[0].type.big_endian)
            std::reverse(bytes.begin(), bytes.end());
        double value;
        if (bytes.size() == 4) {
            float narrow;
            std::memcpy(&narrow, bytes.data(), 4);
            value = double{narrow};
        } else {
            std::memcpy(&value, bytes.data(), 8);
        }
        EXPECT_NEAR(value, 0.5011872336272722, 1e-7) << name;
    }
}

TEST(Pattern, NoiseIsReproducibleFromItsSeedAndHasTheRequestedLevel)
{
    const Format format = Format::parse("ci16_le");
    const auto a = generate(Pattern::noise, format, 0, 20'000, 0, 1);
    EXPECT_EQ(a, generate(Pattern::noise, format, 0, 20'000, 0, 1));
    EXPECT_NE(a, generate(Pattern::noise, format, 0, 20'000, 0, 2));
    double sum[2]{}, squares[2]{}, product = 0;
    for (std::size_t i = 0; i < 20'000; ++i) {
        const double v[] = {
            static_cast<double>(integer_of(format.channels[0].type, &a[i * 4])) / 32768,
            static_cast<double>(integer_of(format.channels[1].type, &a[i * 4 + 2])) / 32768};
        for (int c = 0; c < 2; ++c) {
            sum[c] += v[c];
            squares[c] += v[c] * v[c];
        }
        product += v[0] * v[1];
    }
    for (int c = 0; c < 2; ++c) {
        EXPECT_NEAR(sum[c] / 20'000, 0, 0.005);
        EXPECT_NEAR(20 * std::log10(std::sqrt(squares[c] / 20'000)), -17, 0.5);
    }
    EXPECT_NEAR(product / std::sqrt(squares[0] * squares[1]), 0,
                0.03); // the channels are uncorrelated
}

} // namespace
