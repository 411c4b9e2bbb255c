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

// Complex samples of the first pair, relative to full scale.
std::vector<std::complex<double>> pair_of(const Format& format, const std::vector<std::byte>& bytes)
{
    std::vector<std::complex<double>> values;
    for (std::size_t at = 0; at < bytes.size(); at += format.sample_bytes) {
        const auto part = [&](std::size_t channel) {
            const Channel& c = format.channels[channel];
            return static_cast<double>(integer_of(c.type, &bytes[at + c.offset])) /
                   std::ldexp(1.0, static_cast<int>(c.type.bits) - 1);
        };
        values.emplace_back(part(0), part(1));
    }
    return values;
}

// The amplitude of a frequency, in turns per sample.
double amplitude(std::span<const std::complex<double>> values, double turns)
{
    std::complex<double> sum;
    for (std::size_t i = 0; i < values.size(); ++i)
        sum += values[i] * std::polar(1.0, -2 * std::numbers::pi * turns * static_cast<double>(i));
    return std::abs(sum) / static_cast<double>(values.size());
}

double decibels(double amplitude)
{
    return 20 * std::log10(amplitude);
}

TEST(Pattern, RadioHasAToneACarrierAndNoiseAtTheirLevels)
{
    Format format = Format::parse("ci16_le");
    format.sample_rate = 1e6;
    const auto values = pair_of(format, generate(Pattern::radio, format, 200'000, 65'536, 100e3));
    EXPECT_NEAR(decibels(amplitude(values, 0.1)), -20, 0.1);
    // A Hann window, which passes 3/8 of the power, keeps the tone out of the other bins.
    const double bin = 1.0 / 4096;
    std::vector<std::complex<double>> windowed(values.begin(), values.begin() + 4096);
    for (std::size_t i = 0; i < windowed.size(); ++i)
        windowed[i] *= std::pow(std::sin(std::numbers::pi * static_cast<double>(i) * bin), 2);
    const auto power = [&](double from, double to) {
        double sum = 0;
        for (double turns = from; turns < to; turns += bin)
            sum += std::pow(amplitude(windowed, turns), 2);
        return sum * 8 / 3;
    };
    // The carrier is 1.35 / 16 of the rate wide.
    const double carrier = power(-3.0 / 16 - 0.043, -3.0 / 16 + 0.043);
    EXPECT_NEAR(10 * std::log10(carrier), -26, 0.5);
    // Noise is measured where nothing else is, and scaled to the whole band.
    const double noise = power(0.2, 0.24) / 0.04;
    EXPECT_NEAR(10 * std::log10(noise), -50, 1.5);
}

TEST(Pattern, RadioHasABurstInTheFirstTenthOfEachSecond)
{
    Format format = Format::parse("ci16_le");
    format.sample_rate = 1e6;
    for (const std::uint64_t second : {0, 1, 7}) {
        const auto at = [&](std::uint64_t sample) {
            const std::uint64_t first = second * 1'000'000 + sample;
            return pair_of(format, generate(Pattern::radio, format, first, 256, 100e3));
        };
        EXPECT_NEAR(decibels(amplitude(at(50'000 - 128), 5.0 / 16)), -14, 0.5) << second;
        EXPECT_LT(decibels(amplitude(at(150'000), 5.0 / 16)), -50) << second;
        EXPECT_LT(decibels(amplitude(at(950'000), 5.0 / 16)), -50) << second;
    }
}

TEST(Pattern, RadioDependsOnTheSampleIndexAndNotOnTheBlock)
{
    Format format = Format::parse("ci16_le");
    format.sample_rate = 1e6;
    const auto whole = pair_of(format, generate(Pattern::radio, format, 999'000, 3000, -77e3));
    const auto part = pair_of(format, generate(Pattern::radio, format, 999'777, 1000, -77e3));
    for (std::size_t i = 0; i < part.size(); ++i)
        ASSERT_LE(std::abs(part[i] - whole[777 + i]), 1.5 / 32768) << i; // rounding of the tone
}

TEST(Pattern, RadioIsTheSameInEveryScanTypeAndDiffersBetweenPairs)
{
    Format wide = Format::parse("ci16_le");
    wide.sample_rate = 1e6;
    const auto wanted = pair_of(wide, generate(Pattern::radio, wide, 40'000, 500, 1e3));
    for (const char* name : {"ci8", "ci16_be", "ci32_le"}) {
        Format format = Format::parse(name);
        format.sample_rate = 1e6;
        const auto values = pair_of(format, generate(Pattern::radio, format, 40'000, 500, 1e3));
        const double step = std::ldexp(1.0, 1 - static_cast<int>(format.channels[0].type.bits));
        for (std::size_t i = 0; i < values.size(); ++i)
            ASSERT_LE(std::abs(values[i] - wanted[i]), std::max(step, 1.0 / 32768)) << name << i;
    }
    Format two = Format::parse("le:s16/16,le:s16/16,le:s16/16,le:s16/16");
    two.sample_rate = 1e6;
    for (std::size_t i = 0; i < 4; ++i)
        two.channels[i].component = i % 2 == 0 ? Component::in_phase : Component::quadrature;
    const auto bytes = generate(Pattern::radio, two, 0, 100, 1e3);
    std::size_t same = 0;
    for (std::size_t i = 0; i < 100; ++i)
        same += std::equal(&bytes[i * 8], &bytes[i * 8 + 4], &bytes[i * 8 + 4]) ? 1 : 0;
    EXPECT_LT(same, 10U);
}

} // namespace
