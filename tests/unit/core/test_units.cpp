// SPDX-License-Identifier: MIT
#include "iio_stream/block.hpp"
#include "iio_stream/units.hpp"
#include "support/errors.hpp"

#include <chrono>
#include <gtest/gtest.h>
#include <limits>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;
using namespace std::chrono_literals;

std::uint64_t bytes_of(std::string_view text)
{
    return parse_size("block-size", text);
}

TEST(Units, ASizeAcceptsDecimalAndBinaryUnits)
{
    EXPECT_EQ(bytes_of("0"), 0u);
    EXPECT_EQ(bytes_of("4096"), 4096u);
    EXPECT_EQ(bytes_of("4k"), 4000u);
    EXPECT_EQ(bytes_of("4Ki"), 4096u);
    EXPECT_EQ(bytes_of("3M"), 3'000'000u);
    EXPECT_EQ(bytes_of("3Mi"), 3u << 20);
    EXPECT_EQ(bytes_of("2G"), 2'000'000'000u);
    EXPECT_EQ(bytes_of("2Gi"), 2ull << 30);
    EXPECT_EQ(bytes_of("5T"), 5'000'000'000'000u);
    EXPECT_EQ(bytes_of("5Ti"), 5ull << 40);
    EXPECT_EQ(bytes_of("1.5Mi"), 1'572'864u);
    EXPECT_EQ(bytes_of("1e6"), 1'000'000u);
}

TEST(Units, EveryDecimalFractionThatIsAWholeSizeIsAccepted)
{
    // 1.001 * 1000 is 1000.9999999999999 in binary floating point.
    for (unsigned n = 1; n < 20'000; ++n) {
        const std::string text =
            std::to_string(n / 1000) + "." + std::to_string(1000 + n % 1000).substr(1);
        ASSERT_EQ(bytes_of(text + "k"), n) << text;
        ASSERT_EQ(bytes_of(text + "M"), n * 1000u) << text;
        ASSERT_EQ(bytes_of(text + "G"), n * 1'000'000ull) << text;
    }
}

TEST(Units, AWholeNumberIsExactToItsLastDigit)
{
    EXPECT_EQ(bytes_of("9007199254740993"), 9007199254740993u); // 2^53 + 1
    EXPECT_EQ(bytes_of("9223372036854775807"), 9223372036854775807u);
}

TEST(Units, AnInvalidOrFractionalSizeIsRefusedByName)
{
    for (const char* text : {"", "k", "-1", "1.5", "1.0001k", "4MX", "4 M", "4mi", "0x10", "nan",
                             "inf", "1e30", "9223372036854775808", "1e400", "+", " 1"})
        expect_usage_error([&] { bytes_of(text); }, "block-size", std::string("=") + text);
}

TEST(Units, ASizeIsAcceptedAsItIsPrinted)
{
    EXPECT_EQ(parse_size("bytes", "64MiB"), 64u << 20);
    EXPECT_EQ(parse_size("bytes", "1.5KiB"), 1536u);
    EXPECT_EQ(parse_size("bytes", "2MB"), 2'000'000u);
    EXPECT_EQ(parse_size("bytes", "7B"), 7u);
}

TEST(Units, ARateAcceptsDecimalUnitsOnly)
{
    EXPECT_EQ(parse_rate("rate", "2.4G"), 2.4e9);
    EXPECT_EQ(parse_rate("rate", "30.72M"), 30.72e6);
    EXPECT_EQ(parse_rate("rate", "1e6"), 1e6);
    EXPECT_EQ(parse_rate("rate", "0"), 0);
    EXPECT_EQ(parse_rate("rate", "1MHz"), 1e6);
    EXPECT_EQ(parse_rate("rate", "30.72MS/s"), 30.72e6);
    for (const char* text : {"1Ki", "-1", "nan", "inf", "", "1mHz", "1 MHz", "Hz", "1e308G"})
        expect_usage_error([&] { parse_rate("rate", text); }, "rate=", text);
}

TEST(Units, ATimeAcceptsUnitsAndIsInSecondsByDefault)
{
    const auto time = [](const char* text) { return parse_duration("duration", text); };
    EXPECT_EQ(time("2"), 2s);
    EXPECT_EQ(time("2s"), 2s);
    EXPECT_EQ(time("1sec"), 1s);
    EXPECT_EQ(time("250ms"), 250ms);
    EXPECT_EQ(time("3us"), 3us);
    EXPECT_EQ(time("7ns"), 7ns);
    EXPECT_EQ(time("2min"), 2min);
    EXPECT_EQ(time("3h"), 3h);
    EXPECT_EQ(time("7d"), 168h);
    EXPECT_EQ(time("0.5d"), 12h);
    EXPECT_EQ(time("0.5"), 500ms);
    EXPECT_EQ(time("1.001"), 1001ms);
    for (const char* text : {"-1", "1w", "1D", "nan", "1e300", "", "s", "1 s"})
        expect_usage_error([&] { parse_duration("duration", text); }, "duration=", text);
}

TEST(Units, AnUnknownUnitSuggestsTheNearest)
{
    expect_usage_error([] { parse_size("bytes", "1.5kib"); }, "did you mean 1.5KiB?");
    expect_usage_error([] { parse_size("bytes", "2mb"); }, "did you mean 2MB?");
    expect_usage_error([] { parse_rate("rate", "1mHz"); }, "did you mean 1MHz?");
    expect_usage_error([] { parse_duration("duration", "5minutes"); }, "did you mean 5min?");
    expect_usage_error([] { parse_duration("duration", "2sek"); }, "did you mean 2s?");
}

TEST(Units, ASwitchIsOnOrOff)
{
    for (const char* text : {"on", "true", "yes", "1"})
        EXPECT_TRUE(parse_switch("loop", text));
    for (const char* text : {"off", "false", "no", "0"})
        EXPECT_FALSE(parse_switch("loop", text));
    for (const char* text : {"", "On", "2", "maybe"})
        expect_usage_error([&] { parse_switch("loop", text); }, "loop=", "on or off");
}

TEST(Units, ANumberCanBeNegative)
{
    EXPECT_EQ(parse_number("frequency", "-100.5"), -100.5);
    expect_usage_error([] { parse_number("frequency", "1k"); }, "frequency=1k");
}

TEST(Units, TheNearestWordIsFoundWithinAFewEdits)
{
    const std::vector<std::string> known{"pattern", "rate", "channels"};
    EXPECT_EQ(nearest("patern", known), "pattern");
    EXPECT_EQ(nearest("rte", known), "rate");
    EXPECT_EQ(nearest("chanels", known), "channels");
    EXPECT_EQ(nearest("overwrite", known), "");
    EXPECT_EQ(nearest("x", {}), "");
    EXPECT_EQ(nearest("freq", {"format", "frequency"}), "frequency");
    EXPECT_EQ(nearest("max", {"max-gaps", "max-lost"}), "");
    EXPECT_EQ(nearest("rec", {"run", "recover", "record"}), "record");
}

TEST(Units, BytesInMemoryMustBeAddressable)
{
    EXPECT_EQ(parse_memory_size("--block-size", "4Mi"), 4u << 20);
    if (sizeof(std::size_t) == 4) // a bug parsed it as 1Gi
        expect_usage_error([] { parse_memory_size("--block-size", "5Gi"); }, "--block-size", "5Gi",
                           "address");
    else
        EXPECT_EQ(parse_memory_size("--block-size", "5Gi"), parse_size("--block-size", "5Gi"));
}

TEST(Units, AUsbIdIsTwoHexadecimalNumbers)
{
    const auto id = parse_usb_id("1d6b:0104");
    ASSERT_TRUE(id);
    EXPECT_EQ(id->vendor, 0x1d6b);
    EXPECT_EQ(id->product, 0x0104);
    for (const char* text : {"", ":", "1d6b", "1d6b:", ":0104", "1d6b:10000", "1d6b:01:04",
                             "0x1d:1", "-1:1", "1d6b:01g4", " 1:1"})
        EXPECT_FALSE(parse_usb_id(text)) << text;
}

TEST(Units, ASuggestionNamesTheNearestWordOrAll)
{
    EXPECT_EQ(suggest("rat", {"rate", "loop"}), "did you mean 'rate'?");
    EXPECT_EQ(suggest("overwrite", {"rate", "loop"}), "known: rate, loop");
    EXPECT_EQ(suggest("overwrite", {}), "there are none");
}

TEST(Units, ASizeIsWrittenInTheLargestBinaryUnitThatIsExact)
{
    EXPECT_EQ(format_size(0), "0");
    EXPECT_EQ(format_size(1000), "1000");
    EXPECT_EQ(format_size(1024), "1Ki");
    EXPECT_EQ(format_size(1536), "1536");
    EXPECT_EQ(format_size(4 << 20), "4Mi");
    EXPECT_EQ(format_size(3ull << 40), "3Ti");
    EXPECT_EQ(format_size(1ull << 60), "1048576Ti");
    EXPECT_EQ(bytes_of(format_size(std::uint64_t{1} << 62)), std::uint64_t{1} << 62);
}

TEST(Units, EqualBoundsArePrintedAsOneNumber)
{
    EXPECT_EQ(format_bounds(3, 3), "3");
    EXPECT_EQ(format_bounds(3, 5), "3 to 5");
    EXPECT_EQ(format_bounds(0, kUnknown), "0 to ?");
}

} // namespace
