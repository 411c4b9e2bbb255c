// SPDX-License-Identifier: MIT
#include "iio_stream/format.hpp"
#include "support/errors.hpp"

#include <gtest/gtest.h>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;
using Number = ScanType::Number;

TEST(ScanType, KernelStringsAreParsed)
{
    const ScanType type = ScanType::parse("be:u12/16>>4");
    EXPECT_TRUE(type.big_endian);
    EXPECT_EQ(type.number, Number::unsigned_integer);
    EXPECT_EQ(type.bits, 12u);
    EXPECT_EQ(type.storage_bits, 16u);
    EXPECT_EQ(type.shift, 4u);
    EXPECT_EQ(type.repeat, 1u);
    EXPECT_EQ(type.bytes(), 2u);
}

TEST(ScanType, TheTextParsesBackToTheSameType)
{
    for (const char* text : {"le:s12/16>>4", "be:u24/32>>8", "le:s16/16>>0", "le:s16/16X4>>0",
                             "be:f32/32>>0", "le:f64/64>>0", "le:s64/64>>0", "le:u1/8>>7"})
        EXPECT_EQ(ScanType::parse(text).text(), text);
    EXPECT_EQ(ScanType::parse("le:s16/16").text(), "le:s16/16>>0"); // the shift is optional
}

// ADI's drivers write "le:S12/16>>0" if the value is sign-extended to all 16 bits.
TEST(ScanType, CapitalTypeLettersMeanTheSameTypes)
{
    for (const auto& [capital, plain] : {std::pair{"le:S12/16>>0", "le:s12/16>>0"},
                                         {"be:U16/16>>0", "be:u16/16>>0"},
                                         {"le:S64/64>>0", "le:s64/64>>0"},
                                         {"le:S16/16X2>>0", "le:s16/16X2>>0"}}) {
        EXPECT_EQ(ScanType::parse(capital), ScanType::parse(plain));
        EXPECT_EQ(ScanType::parse(capital).text(), plain);
        EXPECT_EQ(Format::parse(capital).name(), Format::parse(plain).name());
    }
    expect_usage_error([] { ScanType::parse("le:F32/32>>0"); }, "scan type");
}

TEST(ScanType, ARepeatedValueTakesItsSpaceEachTime)
{
    EXPECT_EQ(ScanType::parse("le:s16/16X4>>0").bytes(), 8u);
    EXPECT_EQ(ScanType::parse("le:s16/16X4>>0").repeat, 4u);
}

TEST(ScanType, InvalidScanTypesAreUsageErrors)
{
    for (const char* text : {"",
                             "le",
                             "le:",
                             "le:s",
                             "le:s12",
                             "le:s12/",
                             "s12/16",
                             "xe:s12/16",
                             "le:x12/16",
                             "le:s12/15>>0",
                             "le:s0/16>>0",
                             "le:s17/16>>0",
                             "le:s12/16>>5",
                             "le:s12/16>>",
                             "le:s12/16>>4 ",
                             "le:s12/16X0>>4",
                             "le:s12/16X65>>4",
                             "le:s12/16X",
                             "le:f16/16>>0",
                             "le:f32/64>>0",
                             "le:f32/32>>1",
                             "le:s-1/16",
                             "le:s99999999999/16",
                             "le:s12/16>>4,",
                             "le:s128/128>>0",
                             "le:s12/16>>4294967300"})
        expect_usage_error([&] { ScanType::parse(text); }, "scan type");
}

TEST(Format, SigmfNamesRoundTrip)
{
    for (const char* name : {"ci16_le", "ci16_be", "cf32_le", "cf64_be", "ci8", "cu8", "cu16_le",
                             "ci32_le", "ri16_le", "rf32_le", "ru8", "ri32_be"})
        EXPECT_EQ(Format::parse(name).name(), name);
}

TEST(Format, ANameWithoutAByteOrderIsLittleEndian)
{
    EXPECT_EQ(Format::parse("cf32").name(), "cf32_le");
    EXPECT_EQ(Format::parse("ri16").name(), "ri16_le");
    EXPECT_EQ(Format::parse("cu8").name(), "cu8");
}

TEST(Format, FormatsUnknownToSigmfAreRefused)
{
    for (const char* name :
         {"", "c", "r", "ci17", "ci16_xe", "ci24_le", "xi16_le", "i16_le", "ci64_le", "cf16_le",
          "cf31", "ci8_le", "ci8_le ", "cs16_le", "le:s12", "ci16_le,ci16_le"})
        expect_usage_error([&] { Format::parse(name); }, "not a sample format");
}

TEST(Format, AComplexNameMakesAPairAndARealNameOneChannel)
{
    const Format complex = Format::parse("ci16_le");
    ASSERT_EQ(complex.channels.size(), 2u);
    EXPECT_EQ(complex.channels[0].id, "voltage0_i");
    EXPECT_EQ(complex.channels[1].id, "voltage0_q");
    EXPECT_EQ(complex.channels[1].component, Component::quadrature);
    EXPECT_TRUE(complex.is_complex());
    EXPECT_EQ(complex.sample_bytes, 4u);
    const Format real = Format::parse("ri16_le");
    ASSERT_EQ(real.channels.size(), 1u);
    EXPECT_EQ(real.channels[0].id, "voltage0");
    EXPECT_FALSE(real.is_complex());
}

TEST(Format, ChannelsAreGivenByNumberOrByName)
{
    EXPECT_EQ(Format::parse("ri16_le", "3").sample_bytes, 6u);
    EXPECT_EQ(Format::parse("ci16_le", "4").channels[3].id, "voltage1_q");
    const Format named = Format::parse("ri16_le", "a,b");
    EXPECT_EQ(named.channels[0].id, "a");
    EXPECT_EQ(named.channels[1].id, "b");
    EXPECT_EQ(named.channels[1].offset, 2u);
    expect_usage_error([] { Format::parse("ci16_le", "3"); }, "pairs");
    expect_usage_error([] { Format::parse("ri16_le", "0"); }, "1 to 64");
    expect_usage_error([] { Format::parse("ri16_le", "65"); }, "1 to 64");
    expect_usage_error([] { Format::parse("le:s16/16", "2"); }, "2 channels", "1 scan types");
}

TEST(Format, AListOfScanTypesIsAFormat)
{
    const Format format = Format::parse("le:s12/16>>4,be:u24/32>>0", "a,b");
    ASSERT_EQ(format.channels.size(), 2u);
    EXPECT_EQ(format.channels[1].type.text(), "be:u24/32>>0");
    EXPECT_EQ(format.name(), "le:s12/16>>4,be:u24/32>>0");
    EXPECT_EQ(Format::parse(format.name()).name(), format.name());
}

TEST(Format, TooManyChannelsAreRefusedInEverySpelling)
{
    std::string list = "le:s16/16";
    for (int i = 0; i < 64; ++i)
        list += ",le:s16/16";
    expect_usage_error([&] { Format::parse(list); }, "1 to 64");
}

TEST(Format, ChannelsAlignToTheirSizeAndSamplesToTheLargestChannel)
{
    // As in iio_compute_scan_bytes(): 8 bits, then 32, then 16, then 64 for a timestamp.
    Format format = Format::parse("le:u8/8,le:s24/32>>8,le:s16/16,le:s64/64");
    EXPECT_EQ(format.channels[0].offset, 0u);
    EXPECT_EQ(format.channels[1].offset, 4u);
    EXPECT_EQ(format.channels[2].offset, 8u);
    EXPECT_EQ(format.channels[3].offset, 16u);
    EXPECT_EQ(format.sample_bytes, 24u);
    EXPECT_EQ(Format::parse("le:s32/32,le:u8/8").sample_bytes, 8u);      // padded at its end
    EXPECT_EQ(Format::parse("ri16_le", "3").sample_bytes, 6u);           // no padding is needed
    EXPECT_EQ(Format::parse("le:s16/16X4,le:s16/16").sample_bytes, 16u); // one channel of 8 bytes
}

TEST(Format, MixedTypesOrByteOrdersAreNotComplex)
{
    Format format = Format::parse("ci16_le", "4");
    EXPECT_TRUE(format.is_complex());
    std::swap(format.channels[1], format.channels[2]);
    EXPECT_FALSE(format.is_complex());
    Format mixed = Format::parse("ci16_le");
    mixed.channels[1].type.big_endian = true;
    EXPECT_FALSE(mixed.is_complex());
    EXPECT_FALSE(Format{}.is_complex());
    EXPECT_EQ(Format{}.name(), "");
}

} // namespace
