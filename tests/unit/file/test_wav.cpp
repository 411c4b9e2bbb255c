// SPDX-License-Identifier: MIT
#include "file/wav/header.hpp"
#include "file/wav/output_header.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/temp_dir.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

namespace {

using namespace iio_stream;
using namespace iio_stream::file;
using namespace iio_stream::test;

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

std::uint64_t number(std::span<const std::byte> bytes, std::size_t at, std::size_t size)
{
    std::uint64_t value = 0;
    for (std::size_t i = size; i-- > 0;)
        value = value << 8 | static_cast<std::uint8_t>(bytes[at + i]);
    return value;
}

std::string name(std::span<const std::byte> bytes, std::size_t at)
{
    return {reinterpret_cast<const char*>(bytes.data()) + at, 4};
}

WavFacts pairs()
{
    WavFacts facts{Format::parse("ci16_le"), std::nullopt, 0};
    facts.format.sample_rate = 1e6;
    return facts;
}

// EBU Tech 3306: the sizes are in "ds64", the first chunk, and the 32-bit sizes are -1.
TEST(WavHeader, SizesBeyond32BitsAreInDs64)
{
    const auto header = wav_header(pairs(), 5 * kGiB);
    EXPECT_EQ(name(header, 0), "RF64");
    EXPECT_EQ(number(header, 4, 4), 0xffffffffu);
    EXPECT_EQ(name(header, 8), "WAVE");
    EXPECT_EQ(name(header, 12), "ds64");
    EXPECT_EQ(number(header, 16, 4), 28u);
    EXPECT_EQ(number(header, 20, 8), 5 * kGiB + 4096 - 8);
    EXPECT_EQ(number(header, 28, 8), 5 * kGiB);
    EXPECT_EQ(number(header, 36, 8), 5 * kGiB / 4);
    EXPECT_EQ(number(header, 44, 4), 0u);
    EXPECT_EQ(name(header, 48), "fmt ");
    EXPECT_EQ(name(header, 4088), "data");
    EXPECT_EQ(number(header, 4092, 4), 0xffffffffu);
}

TEST(WavHeader, TheSizeOfTheLargestRiffFileIsNotMistakenForUnknown)
{
    const std::uint64_t most = 0xffffffffu - 4096 + 8;
    EXPECT_EQ(name(wav_header(pairs(), most), 0), "RF64");
    const auto riff = wav_header(pairs(), most - 3);
    EXPECT_EQ(name(riff, 0), "RIFF");
    EXPECT_EQ(number(riff, 4092, 4), most - 3);
}

TEST(WavHeader, ALongFileIsReadBack)
{
    const TempDir dir;
    for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{4000}, 5 * kGiB}) {
        const auto header = wav_header(pairs(), bytes);
        write_file(dir / "a.wav", {header.begin(), header.end()});
        ASSERT_EQ(::truncate((dir / "a.wav").c_str(), static_cast<off_t>(4096 + bytes)), 0);
        const WavHeader found = read_wav_header(dir / "a.wav");
        EXPECT_EQ(found.begin, 4096u);
        EXPECT_EQ(found.samples(), bytes / 4);
        EXPECT_EQ(found.format.name(), "ci16_le");
        EXPECT_EQ(found.format.sample_rate, 1e6);
        EXPECT_EQ(found.remark, "");
    }
}

TEST(WavHeader, FormatsThatWavLacksAreConverted)
{
    const auto to = [](const char* format) {
        return conversion_to_wav(Format::parse(format), "a.wav").to;
    };
    for (const char* kept : {"cu8", "ru8", "ci16_le", "ri32_le", "cf32_le", "rf64_le"})
        EXPECT_EQ(to(kept), "") << kept;
    EXPECT_EQ(to("ci8"), "cu8");
    EXPECT_EQ(to("ci16_be"), "ci16_le");
    EXPECT_EQ(to("ru16_be"), "ri16_le");
    EXPECT_EQ(to("cf32_be"), "cf32_le");
    EXPECT_EQ(to("le:s12/16>>0"), ""); // stored unchanged, as in a file named .ri16
    EXPECT_EQ(to("le:s12/16>>4"), "ri16_le");
    EXPECT_EQ(to("le:u8/16>>8"), "ru8");
    expect_usage_error([] { (void)conversion_to_wav(Format::parse("ci16_le", "4"), "a.wav"); },
                       "one or two channels, not 4", "channels=");
}

TEST(WavHeader, AStreamWithoutARateIsRefused)
{
    Format format = Format::parse("ci16_le");
    expect_usage_error([&] { require_wav_rate(format, "a.wav"); }, "a.wav", "rate=");
    format.sample_rate = 5e9;
    expect_usage_error([&] { require_wav_rate(format, "a.wav"); }, "4.29 GS/s");
    format.sample_rate = 1;
    EXPECT_NO_THROW(require_wav_rate(format, "a.wav"));
}

} // namespace
