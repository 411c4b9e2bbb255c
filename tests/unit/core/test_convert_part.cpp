// SPDX-License-Identifier: MIT
// Converters between two formats, each of which can be a part of the channels of larger samples.
#include "iio_stream/format.hpp"
#include "support/errors.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <utility>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;

std::vector<std::byte> any_bytes(const Format& format, std::size_t samples)
{
    std::vector<std::byte> bytes(samples * format.sample_bytes);
    for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<std::byte>(i * 37 + i / 251);
    return bytes;
}

Format some_of(Format format, std::size_t first, std::size_t count)
{
    const auto begin = format.channels.begin() + static_cast<std::ptrdiff_t>(first);
    format.channels = {begin, begin + static_cast<std::ptrdiff_t>(count)};
    return format;
}

TEST(ConvertPart, ASubsetOfTheChannelsIsConvertedToTheSameValues)
{
    for (const char* type : {"le:s16/16>>0", "le:s12/16>>0", "le:s12/16>>4", "be:u14/16>>2",
                             "le:s24/32>>0", "le:f32/32>>0"})
        for (const char* to : {"rf32_le", "ri16_le", "ri32_le"}) {
            const std::string one = type;
            const Format whole = Format::parse(one + "," + one + "," + one + "," + one);
            const std::vector<std::byte> in = any_bytes(whole, 301);
            const Converter reference(whole, to);
            std::vector<std::byte> expected(301 * reference.to().sample_bytes);
            std::vector<std::byte> found(expected.size());
            reference.convert(in, expected);
            for (const auto& [first, count] : {std::pair{0, 1}, {1, 2}, {3, 1}})
                Converter(some_of(whole, first, count), some_of(reference.to(), first, count))
                    .convert(in, found);
            EXPECT_EQ(found, expected) << type << " to " << to;
        }
}

TEST(ConvertPart, AnyNumberOfChannelsIsConverted)
{
    Format whole = Format::parse("ri16_le", "1"), floats = Format::parse("rf32_le", "1");
    for (Format* format : {&whole, &floats}) {
        format->channels.resize(301, format->channels[0]);
        format->lay_out();
    }
    const std::vector<std::byte> in = any_bytes(whole, 300);
    std::vector<std::byte> expected(300 * floats.sample_bytes);
    Converter(whole, floats).convert(in, expected);
    for (const std::size_t count : {3U, 85U, 128U, 255U, 256U, 257U, 300U}) {
        std::vector<std::byte> found = expected;
        for (std::size_t n = 0; n < 300; ++n) // the values that must be computed again
            std::fill_n(&found[n * floats.sample_bytes + 4], 4 * count, std::byte{0xa5});
        Converter(some_of(whole, 1, count), some_of(floats, 1, count)).convert(in, found);
        EXPECT_EQ(found, expected) << count;
    }
}

TEST(ConvertPart, NonadjacentChannelsAreCopiedUnchanged)
{
    const Format whole = Format::parse("le:s16/16X2>>0,le:u8/8>>0,le:s64/64>>0,le:s12/16>>4");
    const std::vector<std::byte> in = any_bytes(whole, 101);
    for (const auto& [a, b] : {std::pair<std::size_t, std::size_t>{0, 3}, {1, 2}, {1, 3}}) {
        Format from = whole;
        from.channels = {whole.channels[a], whole.channels[b]};
        Format to = from;
        to.lay_out();
        std::vector<std::byte> found(101 * to.sample_bytes), expected(found.size());
        for (std::size_t n = 0; n < 101; ++n)
            for (std::size_t i = 0; i < 2; ++i)
                std::memcpy(&expected[n * to.sample_bytes + to.channels[i].offset],
                            &in[n * from.sample_bytes + from.channels[i].offset],
                            from.channels[i].type.bytes());
        Converter(from, to).convert(in, found);
        EXPECT_EQ(found, expected) << a << " and " << b;
    }
}

TEST(ConvertPart, BytesBetweenTheChannelsAreNotWritten)
{
    const Format pair = Format::parse("ci16_le"), four = Format::parse("ci16_le", "4");
    const std::vector<std::byte> in = any_bytes(pair, 50);
    std::vector<std::byte> out(50 * four.sample_bytes, std::byte{0xa5});
    Converter(pair, some_of(four, 2, 2)).convert(in, out);
    for (std::size_t n = 0; n < 50; ++n) {
        EXPECT_TRUE(std::equal(&in[4 * n], &in[4 * n] + 4, &out[8 * n + 4]));
        EXPECT_TRUE(std::all_of(&out[8 * n], &out[8 * n] + 4,
                                [](std::byte b) { return b == std::byte{0xa5}; }));
    }
}

TEST(ConvertPart, ChannelsMustMatchInNumberAndMustNotBeRepeated)
{
    const Format pair = Format::parse("ci16_le"), one = Format::parse("ri16_le");
    const Format repeated = Format::parse("le:s16/16X2>>0");
    expect_usage_error([&] { Converter(pair, one); }, "2 channels cannot become 1");
    expect_usage_error([&] { Converter(repeated, one); }, "repeated");
    expect_usage_error([&] { Converter(one, repeated); }, "repeated");
}

// Little-endian 16-bit values take the vectorized loop; big-endian values do not.
TEST(ConvertPart, TheFastPathFromFloatsToSixteenBitsAgreesWithTheGeneralPath)
{
    std::vector<float> in{NAN, INFINITY, -INFINITY, 1.0F, -1.0F, 0.49999997F / 32768, 1e-40F};
    std::mt19937 random(11);
    std::uniform_real_distribution<float> around(-70'000, 70'000);
    for (int i = 0; i < 20'000; ++i)
        in.push_back(std::ldexp(std::round(around(random)) / 2, -15)); // many are half-integers
    std::vector<std::byte> bytes(4 * in.size());
    std::memcpy(bytes.data(), in.data(), bytes.size());
    const Format from = Format::parse("rf32_le");
    for (const char* type : {"s16/16>>0", "s12/16>>0", "s12/16>>4", "s1/16>>15"}) {
        const Format little = Format::parse(std::string("le:") + type);
        const Format big = Format::parse(std::string("be:") + type);
        std::vector<std::byte> fast(2 * in.size()), general(2 * in.size());
        Converter(from, little).convert(bytes, fast);
        Converter(from, big).convert(bytes, general);
        for (std::size_t i = 0; i < general.size(); i += 2)
            std::swap(general[i], general[i + 1]);
        EXPECT_EQ(fast, general) << type;
    }
}

TEST(ConvertPart, TheFastPathToLeftAlignedSixteenBitsAgreesWithTheGeneralPath)
{
    for (const char* type : {"s16/16>>0", "s12/16>>0", "s12/16>>4", "s10/16>>3"}) {
        const Format little = Format::parse(std::string("le:") + type);
        const Format big = Format::parse(std::string("be:") + type);
        std::vector<std::byte> in = any_bytes(little, 70'000);
        std::vector<std::byte> fast(in.size()), general(in.size());
        Converter(little, "ri16_le").convert(in, fast);
        for (std::size_t i = 0; i < in.size(); i += 2)
            std::swap(in[i], in[i + 1]);
        Converter(big, "ri16_le").convert(in, general);
        EXPECT_EQ(fast, general) << type;
    }
}

TEST(Convert, ADoubleIsRoundedOnce)
{
    const Converter converter(Format::parse("rf64_le"), "ri16_le");
    const double half = 0x1p-16, little = 0x1p-68; // half a step; less than a 64-bit step
    for (const auto& [value, expected] : {std::pair{half, 1},
                                          {half - little, 0},
                                          {half + little, 1},
                                          {-half, 0},
                                          {-half - little, -1},
                                          {-half + little, 0},
                                          {-3 * half - 2 * little, -2},
                                          {-3 * half, -1}}) {
        std::array<std::byte, 8> in;
        std::array<std::byte, 2> out;
        std::memcpy(in.data(), &value, 8);
        converter.convert(in, out);
        std::int16_t made;
        std::memcpy(&made, out.data(), 2);
        EXPECT_EQ(made, expected) << value;
    }
}

} // namespace
