// SPDX-License-Identifier: MIT
// Feeds all parsers of untrusted text with nonsense: each must accept it or refuse it, and do
// nothing else.
#include "iio_stream/endpoint.hpp"
#include "iio_stream/error.hpp"
#include "iio_stream/units.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <random>

namespace {

using namespace iio_stream;

constexpr int kInputs = 30'000;

/// Texts that are made of pieces of valid texts and of some invalid pieces.
class Nonsense {
public:
    explicit Nonsense(std::vector<std::string> pieces) : pieces_(std::move(pieces)) {}

    std::string next()
    {
        std::string text;
        for (auto n = random_() % 5; n > 0; --n)
            text += pieces_[random_() % pieces_.size()];
        if (random_() % 4 == 0 && !text.empty())
            text[random_() % text.size()] = static_cast<char>(random_());
        return text;
    }

private:
    std::vector<std::string> pieces_;
    std::mt19937 random_{1};
};

// Returns the number of texts that `parse` accepts. Every other text must throw a usage Error.
template <typename Parse>
int taken(Nonsense nonsense, Parse&& parse)
{
    int count = 0;
    for (int i = 0; i < kInputs; ++i) {
        const std::string text = nonsense.next();
        try {
            parse(text);
            ++count;
        } catch (const Error& error) {
            EXPECT_EQ(error.fault(), Fault::usage) << text;
        }
    }
    return count;
}

const Nonsense kNumbers({"0",
                         "1",
                         "9",
                         "18446744073709551615",
                         "9223372036854775808",
                         ".",
                         "-",
                         "+",
                         "e",
                         "E5",
                         "1e3",
                         "k",
                         "M",
                         "Ki",
                         "Gi",
                         "Ti",
                         "ms",
                         "s",
                         "min",
                         "h",
                         "ns",
                         "nan",
                         "inf",
                         "0x",
                         " ",
                         ",",
                         "_"});

TEST(Parsers, SizesParseBackFromTheirText)
{
    EXPECT_GT(taken(kNumbers,
                    [](const std::string& text) {
                        const std::uint64_t size = parse_size("size", text);
                        ASSERT_LE(size, std::uint64_t{INT64_MAX});
                        ASSERT_EQ(parse_size("size", format_size(size)), size) << text;
                        ASSERT_EQ(parse_size("size", std::to_string(size)), size) << text;
                    }),
              300);
}

TEST(Parsers, RatesAndTimesAreFiniteAndNotNegative)
{
    EXPECT_GT(taken(kNumbers,
                    [](const std::string& text) {
                        const double rate = parse_rate("rate", text);
                        ASSERT_TRUE(rate >= 0 && std::isfinite(rate)) << text;
                    }),
              300);
    EXPECT_GT(taken(kNumbers,
                    [](const std::string& text) {
                        ASSERT_GE(parse_duration("t", text).count(), 0) << text;
                    }),
              300);
    EXPECT_GT(taken(kNumbers, [](const std::string& text) { (void)parse_number("n", text); }), 300);
}

TEST(Parsers, ScanTypesParseBackFromTheirText)
{
    const Nonsense types({"le:", "be:", "s", "u",   "f",      "12",        "16", "32",
                          "64",  "8",   "/", "/16", "s12/16", "le:s16/16", "X2", "X",
                          ">>",  ">>4", ">", "0",   ":",      "4294967296"});
    EXPECT_GT(taken(types,
                    [](const std::string& text) {
                        const ScanType type = ScanType::parse(text);
                        ASSERT_EQ(ScanType::parse(type.text()), type) << text;
                        ASSERT_LE(type.shift + type.bits, type.storage_bits);
                        ASSERT_GE(type.bits, 1u);
                    }),
              100);
}

TEST(Parsers, FormatsParseBackFromTheirName)
{
    const Nonsense formats({"c", "r", "i16", "f32", "u8", "_le", "_be", "ci16_le", "rf32_le",
                            "le:s12/16>>4", ",", "be:u24/32>>8", "16", "i8", "X2"});
    EXPECT_GT(taken(formats,
                    [](const std::string& text) {
                        const Format format = Format::parse(text);
                        ASSERT_GT(format.sample_bytes, 0u);
                        ASSERT_FALSE(format.channels.empty());
                        const Format again =
                            Format::parse(format.name(), std::to_string(format.channels.size()));
                        ASSERT_EQ(again.name(), format.name()) << text;
                        ASSERT_EQ(again.sample_bytes, format.sample_bytes) << text;
                    }),
              100);
    const Nonsense channels({"1", "2", "64", "65", "a", "voltage0", ",", ",,", "00", " "});
    EXPECT_GT(
        taken(channels, [](const std::string& text) { (void)Format::parse("ri16_le", text); }),
        1000);
}

TEST(Parsers, UrisParseBackFromTheirText)
{
    const Nonsense addresses({"sim", "file",     "null", ":",    "?",     "&",    "=",
                              "%",   "%41",      "%3",   "%zz",  "a",     "rate", "/tmp/x",
                              "-",   "\xc3\xa9", "\n",   "?a=b", "sim:?", "file:"});
    EXPECT_GT(taken(addresses,
                    [](const std::string& text) {
                        const Uri uri = Uri::parse(text);
                        const Uri again = Uri::parse(uri.text());
                        ASSERT_EQ(again.scheme, uri.scheme) << text;
                        ASSERT_EQ(again.rest, uri.rest) << text;
                        ASSERT_EQ(again.options.values(), uri.options.values()) << text;
                    }),
              300);
}

} // namespace
