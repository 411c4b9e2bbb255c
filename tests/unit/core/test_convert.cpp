// SPDX-License-Identifier: MIT
#include "core/format/convert_values.hpp"
#include "iio_stream/format.hpp"
#include "support/errors.hpp"
#include "support/values.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <numeric>
#include <random>
#include <span>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;

std::vector<std::byte> converted(const std::vector<std::byte>& in, const Format& from,
                                 const char* to)
{
    const Converter converter(from, to);
    std::vector<std::byte> out(in.size() / from.sample_bytes * converter.to().sample_bytes);
    converter.convert(in, out);
    return out;
}

template <typename T>
std::vector<std::byte> bytes_of(const std::vector<T>& values)
{
    const auto bytes = std::as_bytes(std::span(values));
    return {bytes.begin(), bytes.end()};
}

template <typename T>
std::vector<T> values_of(const std::vector<std::byte>& bytes)
{
    std::vector<T> values(bytes.size() / sizeof(T));
    std::ranges::copy(bytes, std::as_writable_bytes(std::span(values)).begin());
    return values;
}

// Returns all values of a narrow type. For a wide type, returns the values near the ends and the
// middle, and a few thousand random values.
std::vector<std::uint64_t> raw_values(unsigned bits)
{
    std::vector<std::uint64_t> values;
    if (bits <= 12) {
        for (std::uint64_t v = 0; v < std::uint64_t{1} << bits; ++v)
            values.push_back(v);
        return values;
    }
    const std::uint64_t mask = ~std::uint64_t{0} >> (64 - bits);
    const std::uint64_t half = std::uint64_t{1} << (bits - 1);
    for (std::uint64_t near = 0; near < 300; ++near)
        for (const std::uint64_t v : {near, half + near, half - near, mask - near})
            values.push_back(v & mask);
    std::mt19937_64 random(bits);
    for (int i = 0; i < 3000; ++i)
        values.push_back(random() & mask);
    return values;
}

const std::vector<const char*> kIntegers{
    "le:s16/16>>0", "be:s16/16>>0", "le:s12/16>>0", "le:s12/16>>4", "be:s12/16>>4",  "le:u12/16>>4",
    "be:u12/16>>2", "le:s8/8>>0",   "le:u8/8>>0",   "le:s6/8>>2",   "le:s24/32>>0",  "be:u24/32>>8",
    "le:s32/32>>0", "be:u32/32>>0", "le:s64/64>>0", "be:u64/64>>0", "le:s40/64>>13", "le:u1/8>>3"};

// The values of a type in sequence; the unused bits contain random data.
std::vector<std::byte> stored(const ScanType& type)
{
    std::vector<std::byte> out;
    std::mt19937_64 random(7);
    for (const std::uint64_t value : raw_values(type.bits)) {
        const std::uint64_t storage = ~std::uint64_t{0} >> (64 - type.storage_bits);
        const std::uint64_t own = (~std::uint64_t{0} >> (64 - type.bits)) << type.shift;
        const std::uint64_t raw = ((random() & ~own) | value << type.shift) & storage;
        for (unsigned i = 0; i < type.storage_bits; i += 8)
            out.push_back(
                static_cast<std::byte>(raw >> (type.big_endian ? type.storage_bits - 8 - i : i)));
    }
    return out;
}

TEST(Convert, EveryIntegerBecomesTheFloatOfItsFractionOfFullScale)
{
    for (const char* name : kIntegers)
        for (const char* to : {"rf32_le", "rf32_be", "rf64_le"}) {
            const Format from = Format::parse(name);
            const ScanType& type = from.channels[0].type;
            const std::vector<std::byte> in = stored(type);
            const std::vector<std::byte> out = converted(in, from, to);
            const ScanType wanted_type = Format::parse(to).channels[0].type;
            for (std::size_t i = 0; i * type.bytes() < in.size(); ++i) {
                const long double wanted = real_of(type, &in[i * type.bytes()]);
                const long double found = real_of(wanted_type, &out[i * wanted_type.bytes()]);
                const bool narrow = wanted_type.bits == 32;
                const long double exact =
                    narrow ? static_cast<long double>(static_cast<float>(wanted))
                           : static_cast<long double>(static_cast<double>(wanted));
                if (type.bits <= 53) {
                    ASSERT_EQ(found, exact) << name << " to " << to << " value " << i;
                } else { // the conversion by way of a double can round twice
                    ASSERT_NEAR(static_cast<double>(found), static_cast<double>(exact), 0x1p-24)
                        << name;
                }
            }
        }
}

TEST(Convert, EveryIntegerBecomesTheNearestValueOfAnyOtherTypeAndSaturates)
{
    for (const char* name : kIntegers)
        for (const char* to :
             {"ri8", "ru8", "ri16_le", "ri16_be", "ru16_le", "ri32_le", "ru32_be"}) {
            const Format from = Format::parse(name);
            const ScanType& type = from.channels[0].type;
            const std::vector<std::byte> in = stored(type);
            const std::vector<std::byte> out = converted(in, from, to);
            const ScanType wide = Format::parse(to).channels[0].type;
            for (std::size_t i = 0; i * type.bytes() < in.size(); ++i) {
                const std::int64_t wanted = quantised(wide, real_of(type, &in[i * type.bytes()]));
                std::int64_t found = integer_of(wide, &out[i * wide.bytes()]);
                if (wide.number == ScanType::Number::unsigned_integer)
                    found -= std::int64_t{1} << (wide.bits - 1);
                ASSERT_EQ(found, wanted) << name << " to " << to << " value " << i;
            }
        }
}

TEST(Convert, FloatsBecomeTheNearestIntegerAndSaturateAtBothEnds)
{
    std::vector<float> in{0.0F,        -0.0F,    1.0F,      -1.0F,      0.5F,        -0.5F,
                          2.0F,        -2.0F,    1e30F,     -1e30F,     INFINITY,    -INFINITY,
                          0.99999994F, 0x1p-16F, -0x1p-16F, 0x1.8p-15F, -0x1.8p-15F, 1e-40F};
    std::mt19937 random(3);
    for (int i = 0; i < 5000; ++i)
        in.push_back(std::uniform_real_distribution<float>(-1.1F, 1.1F)(random));
    const Format from = Format::parse("rf32_le");
    for (const char* to : {"ri8", "ru8", "ri16_le", "ri16_be", "ru16_le", "ri32_le"}) {
        const std::vector<std::byte> out = converted(bytes_of(in), from, to);
        const ScanType type = Format::parse(to).channels[0].type;
        for (std::size_t i = 0; i < in.size(); ++i) {
            const float clipped = std::clamp(in[i], -1.0F, 1.0F);
            std::int64_t found = integer_of(type, &out[i * type.bytes()]);
            if (type.number == ScanType::Number::unsigned_integer)
                found -= std::int64_t{1} << (type.bits - 1);
            ASSERT_EQ(found, quantised(type, static_cast<long double>(clipped)))
                << to << " " << in[i];
        }
    }
}

TEST(Convert, NotANumberBecomesZero)
{
    const auto out = values_of<std::int16_t>(
        converted(bytes_of<float>({NAN, -NAN, 0.5F}), Format::parse("rf32_le"), "ri16_le"));
    EXPECT_EQ(out, (std::vector<std::int16_t>{0, 0, 16384}));
}

TEST(Convert, FullScaleIsTwoToTheBitsMinusOne)
{
    const auto out =
        values_of<float>(converted(bytes_of<std::int16_t>({-32768, 32767, 16384, 0, -1}),
                                   Format::parse("ri16_le"), "rf32_le"));
    EXPECT_EQ(out, (std::vector<float>{-1.0F, 32767 / 32768.0F, 0.5F, 0.0F, -1 / 32768.0F}));
    const auto offset = values_of<float>(
        converted(bytes_of<std::uint8_t>({0, 128, 255}), Format::parse("ru8"), "rf32_le"));
    EXPECT_EQ(offset, (std::vector<float>{-1.0F, 0.0F, 127 / 128.0F}));
    const auto shifted = values_of<float>(converted(bytes_of<std::uint16_t>({0x800f, 0x7ff0}),
                                                    Format::parse("le:s12/16>>4"), "rf32_le"));
    EXPECT_EQ(shifted, (std::vector<float>{-1.0F, 2047 / 2048.0F}));
}

TEST(Convert, AllSixteenBitValuesSurviveConversionToFloatAndBack)
{
    std::vector<std::int16_t> all;
    for (int v = -32768; v <= 32767; ++v)
        all.push_back(static_cast<std::int16_t>(v));
    const Format i16 = Format::parse("ri16_le");
    const auto floats = converted(bytes_of(all), i16, "rf32_le");
    EXPECT_EQ(values_of<std::int16_t>(converted(floats, Format::parse("rf32_le"), "ri16_le")), all);
}

TEST(Convert, BothByteOrdersBecomeTheSameFloats)
{
    for (const char* type : {"s16/16>>0", "s12/16>>0", "s12/16>>4", "s1/16>>15", "s10/16>>3"}) {
        const Format little = Format::parse(std::string("le:") + type);
        const Format big = Format::parse(std::string("be:") + type);
        std::vector<std::uint16_t> in, swapped;
        for (unsigned v = 0; v <= 0xffff; ++v) {
            in.push_back(static_cast<std::uint16_t>(v));
            swapped.push_back(static_cast<std::uint16_t>(v << 8 | v >> 8));
        }
        EXPECT_EQ(converted(bytes_of(in), little, "rf32_le"),
                  converted(bytes_of(swapped), big, "rf32_le"))
            << type;
    }
}

TEST(Convert, FloatsBecomeTheSameIntegersInBothByteOrders)
{
    for (const char* type : {"s16/16>>0", "s12/16>>0", "s12/16>>4", "s1/16>>15"}) {
        const Format little = Format::parse(std::string("le:") + type);
        const Format big = Format::parse(std::string("be:") + type);
        const float full = std::ldexp(1.0F, static_cast<int>(little.channels[0].type.bits) - 1);
        std::vector<float> in{NAN, INFINITY, -INFINITY, 1e-40F, -1e-40F};
        for (int i = -70'000; i <= 70'000; ++i) { // each half and its neighbors
            const float half = static_cast<float>(i) / 2 / full;
            in.insert(in.end(), {std::nextafter(half, -2.0F), half, std::nextafter(half, 2.0F)});
        }
        const auto made = [&](const Format& to) {
            std::vector<std::byte> out(2 * in.size());
            Converter(Format::parse("rf32_le"), to).convert(bytes_of(in), out);
            return values_of<std::uint16_t>(out);
        };
        const auto fast = made(little), general = made(big);
        for (std::size_t i = 0; i < in.size(); ++i)
            ASSERT_EQ(fast[i], static_cast<std::uint16_t>(general[i] << 8 | general[i] >> 8))
                << type << " " << in[i] * full;
    }
}

TEST(Convert, Avx2GivesTheSameValuesAsAnyProcessor)
{
    if (!detail::has_avx2())
        GTEST_SKIP() << "this processor has no AVX2";
    std::vector<const char*> types = kIntegers;
    types.insert(types.end(), {"le:f32/32>>0", "be:f32/32>>0"});
    std::mt19937_64 random(5);
    std::vector<std::byte> in(detail::kValuesAtOnce * 4 + 1), plain(in.size()), avx2(in.size());
    std::size_t pairs = 0;
    for (const char* from : types)
        for (const char* to : types) {
            const ScanType a = ScanType::parse(from), b = ScanType::parse(to);
            const auto one = detail::ValueConverter::create(a, b, false);
            const auto other = detail::ValueConverter::create(a, b, true);
            ASSERT_EQ(one.has_value(), other.has_value());
            if (!one)
                continue;
            ++pairs;
            for (int round = 0; round < 8; ++round) {
                for (std::byte& byte : in)
                    byte = static_cast<std::byte>(random());
                if (a.number == ScanType::Number::floating && round % 2 == 0)
                    for (std::size_t i = 0; i < detail::kValuesAtOnce; ++i) { // near full scale
                        std::byte& exponent = in[1 + i * 4 + (a.big_endian ? 0 : 3)];
                        exponent = (exponent & std::byte{0x80}) | std::byte{0x3e};
                    }
                one->convert(&in[1], &plain[1]); // not aligned
                other->convert(&in[1], &avx2[1]);
                ASSERT_EQ(plain, avx2) << from << " to " << to;
            }
        }
    EXPECT_GT(pairs, 100U);
}

const std::vector<const char*> kFloats{"le:f32/32>>0", "be:f32/32>>0", "le:f64/64>>0",
                                       "be:f64/64>>0"};

// Random bits. If they are floats, every second one is within twice the full scale.
std::vector<std::byte> any_values(const ScanType& type, std::size_t count, unsigned seed)
{
    std::mt19937 random(seed);
    std::vector<std::byte> bytes(count * type.bytes());
    for (std::byte& byte : bytes)
        byte = static_cast<std::byte>(random());
    if (type.number != ScanType::Number::floating)
        return bytes;
    for (std::size_t i = 0; i < count; i += 2) {
        std::byte& exponent = bytes[i * type.bytes() + (type.big_endian ? 0 : type.bytes() - 1)];
        exponent = (exponent & std::byte{0x80}) | std::byte{0x3f};
    }
    return bytes;
}

// The reference needs numbers of 64 bits, which armhf does not have.
bool is_exact(const ScanType& type)
{
    return std::numeric_limits<long double>::digits >= 64 || type.bits <= 53 ||
           type.number == ScanType::Number::floating;
}

using Conversion = std::function<void(const std::byte*, std::byte*, std::size_t)>;

// Converts every number of values from 0 to `longest`, at odd addresses.
void expect_conversion(const ScanType& from, const ScanType& to, std::size_t longest,
                       const Conversion& convert)
{
    const std::vector<std::byte> values = any_values(from, longest, 11);
    std::vector<std::byte> in(1 + values.size()), whole(1 + longest * to.bytes());
    std::ranges::copy(values, in.begin() + 1);
    convert(&in[1], &whole[1], longest);
    for (std::size_t n = 0; n < longest; ++n)
        ASSERT_TRUE(is_converted(from, &in[1 + n * from.bytes()], to, &whole[1 + n * to.bytes()]))
            << from.text() << " to " << to.text() << ", value " << n;
    for (std::size_t count = 0; count <= longest; ++count) {
        std::vector<std::byte> out(1 + count * to.bytes() + 1, std::byte{0x5a});
        convert(in.data() + 1, out.data() + 1, count);
        ASSERT_TRUE(std::equal(out.begin() + 1, out.end() - 1, whole.begin() + 1))
            << from.text() << " to " << to.text() << ", " << count;
        ASSERT_TRUE(out.front() == std::byte{0x5a} && out.back() == std::byte{0x5a});
    }
}

TEST(Convert, EveryPairOfTypesIsConvertedAsDefinedAtEveryLengthByEveryKernel)
{
    std::vector<const char*> types = kIntegers;
    types.insert(types.end(), kFloats.begin(), kFloats.end());
    for (const char* one : types)
        for (const char* other : types) {
            const ScanType from = ScanType::parse(one), to = ScanType::parse(other);
            if (from == to)
                continue;
            bool any = false;
            for (const bool avx2 : {false, detail::has_avx2()})
                if (const auto kernel = detail::ValueConverter::create(from, to, avx2)) {
                    any = true;
                    expect_conversion(from, to, 300, [&](const auto* in, auto* out, auto count) {
                        kernel->convert_rows(in, {from.bytes(), from.bytes()}, out,
                                             {to.bytes(), to.bytes()}, 1, count);
                    });
                }
            if (any || !is_exact(from) || !is_exact(to))
                continue;
            const Converter converter(Format::parse(one), Format::parse(other));
            expect_conversion(from, to, 30, [&](const auto* in, auto* out, auto count) {
                converter.convert({in, count * from.bytes()}, {out, count * to.bytes()});
            });
        }
}

TEST(Convert, AValueIsTakenFromAndPutIntoAnyPlaceOfALargerSample)
{
    const ScanType from = ScanType::parse("le:s12/16>>4"), to = ScanType::parse("le:f32/32>>0");
    const std::size_t samples = 301;
    const std::vector<std::byte> in = any_values(from, 16 * samples, 3);
    for (const bool avx2 : {false, detail::has_avx2()})
        for (const std::size_t width : {1U, 2U, 3U, 4U, 8U}) { // of 16 values in 32 bytes
            const auto kernel = detail::ValueConverter::create(from, to, avx2);
            std::vector<std::byte> out(samples * 64, std::byte{0x5a});
            kernel->convert_rows(&in[4], {32, width * 2}, &out[8], {64, width * 4}, width, samples);
            for (std::size_t n = 0; n < samples; ++n)
                for (std::size_t at = 0; at < 16; ++at) {
                    const std::byte* const made = &out[n * 64 + at * 4];
                    if (at >= 2 && at < 2 + width)
                        ASSERT_TRUE(is_converted(from, &in[n * 32 + at * 2], to, made));
                    else
                        ASSERT_TRUE(std::all_of(made, made + 4,
                                                [](auto b) { return b == std::byte{0x5a}; }));
                }
        }
}

TEST(Convert, EveryLengthAtEveryAlignmentIsConvertedCompletely)
{
    for (const char* name : {"ci16_le", "ci16_be", "ci8", "cu8", "ci32_le", "cf32_le", "cf32_be"})
        for (const char* to : {"ci8", "ci16_le", "ci16_be", "cf32_le"}) {
            const Format from = Format::parse(name);
            std::mt19937 random(11);
            std::vector<std::byte> in(300 * from.sample_bytes + 3);
            for (std::byte& byte : in)
                byte = static_cast<std::byte>(random());
            const Converter converter(from, to);
            const std::size_t size = converter.to().sample_bytes;
            std::vector<std::byte> each(300 * size); // each sample by itself
            for (std::size_t n = 0; n < 300; ++n)
                converter.convert(
                    std::span(in).subspan(3 + n * from.sample_bytes, from.sample_bytes),
                    std::span(each).subspan(n * size, size));
            for (std::size_t count = 0; count <= 300; ++count) {
                std::vector<std::byte> out(count * size + 2, std::byte{0x5a});
                converter.convert(std::span(in).subspan(3, count * from.sample_bytes),
                                  std::span(out).subspan(1, count * size));
                ASSERT_TRUE(std::equal(out.begin() + 1, out.end() - 1, each.begin()))
                    << name << " to " << to << ", " << count;
                ASSERT_EQ(out.front(), std::byte{0x5a}); // nothing else is written
                ASSERT_EQ(out.back(), std::byte{0x5a});
            }
        }
}

TEST(Convert, TheLastValueOfEveryLengthIsConverted)
{
    std::vector<std::int16_t> in(600);
    std::iota(in.begin(), in.end(), std::int16_t{-100});
    const Format i16 = Format::parse("ri16_le");
    const auto whole = values_of<float>(converted(bytes_of(in), i16, "rf32_le"));
    for (const unsigned count : {0U, 1U, 2U, 255U, 256U, 257U, 511U, 512U, 513U}) {
        const auto part = values_of<float>(
            converted(bytes_of(std::vector(in.begin(), in.begin() + count)), i16, "rf32_le"));
        EXPECT_EQ(part, std::vector(whole.begin(), whole.begin() + count)) << count;
        EXPECT_TRUE(count == 0 || part.back() == static_cast<float>(in[count - 1]) / 32768)
            << count;
    }
}

TEST(Convert, FloatsAreConvertedBetweenWidthsAndByteOrders)
{
    const std::vector<float> in{0.1F, -1.5F, 1e30F, 0.0F};
    const auto wide = converted(bytes_of(in), Format::parse("rf32_le"), "rf64_le");
    EXPECT_EQ(values_of<double>(wide),
              (std::vector<double>{double{0.1F}, -1.5, double{1e30F}, 0.0}));
    EXPECT_EQ(values_of<float>(converted(wide, Format::parse("rf64_le"), "rf32_le")), in);
    const auto big = converted(bytes_of(in), Format::parse("rf32_le"), "rf32_be");
    EXPECT_EQ(values_of<float>(converted(big, Format::parse("rf32_be"), "rf32_le")), in);
}

TEST(Convert, PaddedAndMixedSamplesAreUnpackedAndRepacked)
{
    // A sample has 8 bits, three bytes of padding and 32 bits: five of its eight bytes are data.
    const Format from = Format::parse("le:s8/8>>0,be:s32/32>>0");
    const std::vector<std::byte> in{std::byte{0x40}, std::byte{0xee}, std::byte{0xee},
                                    std::byte{0xee}, std::byte{0xc0}, std::byte{0},
                                    std::byte{0},    std::byte{0}};
    const Converter converter(from, "ri16_le");
    EXPECT_EQ(converter.to().sample_bytes, 4u);
    EXPECT_EQ(values_of<std::int16_t>(converted(in, from, "ri16_le")),
              (std::vector<std::int16_t>{16384, -16384}));
}

TEST(Convert, SamplesAlreadyInTheFormatAreCopied)
{
    std::vector<std::int16_t> in(1001);
    for (std::size_t i = 0; i < in.size(); ++i)
        in[i] = static_cast<std::int16_t>(i * 77);
    EXPECT_EQ(converted(bytes_of(in), Format::parse("ri16_le"), "ri16_le"), bytes_of(in));
    const std::vector<float> odd{NAN, 1e30F}; // bit for bit, even if a value is not a number
    EXPECT_EQ(converted(bytes_of(odd), Format::parse("rf32_le"), "rf32_le"), bytes_of(odd));
}

TEST(Convert, ChannelsKeepTheirNamesAndTheRateIsKept)
{
    Format from = Format::parse("ci16_le", "a,b");
    from.sample_rate = 1e6;
    const Converter converter(from, "cf32_le");
    EXPECT_EQ(converter.to().channels[1].id, "b");
    EXPECT_EQ(converter.to().channels[1].component, Component::quadrature);
    EXPECT_EQ(converter.to().sample_rate, 1e6);
    EXPECT_EQ(converter.to().name(), "cf32_le");
    EXPECT_EQ(converter.to().sample_bytes, 8u);
}

TEST(Convert, ImpossibleConversionsAreUsageErrors)
{
    expect_usage_error([] { Converter(Format::parse("ri16_le"), "cf32_le"); }, "not I/Q pairs",
                       "r");
    expect_usage_error([] { Converter(Format::parse("le:s16/16X2>>0"), "rf32_le"); }, "repeated");
    expect_usage_error([] { Converter(Format::parse("ci16_le"), "cf99"); }, "not a sample format");
    expect_usage_error([] { Converter(Format::parse("ci16_le"), ""); }, "not a sample format");
}

TEST(Convert, ConvertingNoSamplesDoesNothing)
{
    EXPECT_TRUE(converted({}, Format::parse("ci16_le"), "cf32_le").empty());
}

} // namespace
