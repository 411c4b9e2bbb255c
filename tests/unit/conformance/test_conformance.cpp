// SPDX-License-Identifier: MIT
#include "conformance/loopback.hpp"
#include "conformance/recognize.hpp"
#include "conformance/sample_statistics.hpp"
#include "core/format/pattern.hpp"

#include <cstring>
#include <gtest/gtest.h>
#include <random>

namespace iio_stream::conformance {

namespace {

// Noise of a few bits, as from an ADC without a signal.
std::vector<std::byte> noise(std::size_t values, int amplitude)
{
    std::mt19937 random(7);
    std::uniform_int_distribution<int> value(-amplitude, amplitude);
    std::vector<std::byte> bytes(values * 2);
    for (std::size_t i = 0; i < values; ++i) {
        const auto sample = static_cast<std::int16_t>(value(random));
        std::memcpy(bytes.data() + i * 2, &sample, 2);
    }
    return bytes;
}

template <typename Change>
void change_each(std::vector<std::byte>& bytes, Change change)
{
    for (std::size_t at = 0; at < bytes.size(); at += 2) {
        std::int16_t value = 0;
        std::memcpy(&value, bytes.data() + at, 2);
        value = static_cast<std::int16_t>(change(value));
        std::memcpy(bytes.data() + at, &value, 2);
    }
}

const Format kReal = Format::parse("ri16_le", "1");

} // namespace

TEST(ConformanceStatistics, NoiseHasNoFault)
{
    const auto bytes = noise(4096, 40);
    const Statistics statistics = statistics_of(kReal, bytes, 1024);
    EXPECT_EQ(statistics.wrong, "");
    ASSERT_EQ(statistics.channels.size(), 1U);
    EXPECT_LE(statistics.channels[0].most, 40);
    EXPECT_GE(statistics.channels[0].least, -40);
}

TEST(ConformanceStatistics, AStuckBitIsNamed)
{
    auto bytes = noise(4096, 400);
    change_each(bytes, [](int value) { return value & ~0x10; });
    EXPECT_NE(statistics_of(kReal, bytes, 1024).wrong.find("bit 4 of "), std::string::npos);
    change_each(bytes, [](int value) { return value | 0x10; });
    EXPECT_NE(statistics_of(kReal, bytes, 1024).wrong.find("is always 1"), std::string::npos);
}

TEST(ConformanceStatistics, LeftAlignedSamplesAreNotStuck)
{
    auto bytes = noise(4096, 400);
    change_each(bytes, [](int value) { return value * 16; });
    EXPECT_EQ(statistics_of(kReal, bytes, 1024).wrong, "");
}

TEST(ConformanceStatistics, AConstantChannelIsNamed)
{
    std::vector<std::byte> bytes(8192, std::byte{0x12});
    EXPECT_NE(statistics_of(kReal, bytes, 1024).wrong.find("is constant: every sample is 0x1212"),
              std::string::npos);
}

TEST(ConformanceStatistics, AChannelWithOnlyTwoValuesIsReportedAsATestMode)
{
    auto bytes = noise(4096, 400);
    change_each(bytes, [](int value) { return value < 0 ? 0x5555 : -0x5556; });
    EXPECT_NE(statistics_of(kReal, bytes, 1024).wrong.find("only the values"), std::string::npos);
}

TEST(ConformanceStatistics, ClippingIsNamed)
{
    auto bytes = noise(4096, 400);
    change_each(bytes, [](int value) {
        return value < -100 ? -32768 : value > 100 ? 32767 : value;
    });
    EXPECT_NE(statistics_of(kReal, bytes, 1024).wrong.find("clips"), std::string::npos);
}

TEST(ConformanceStatistics, ARepeatedBlockIsNamed)
{
    auto bytes = noise(4096, 400);
    std::memcpy(bytes.data() + 3 * 1024, bytes.data() + 2 * 1024, 1024);
    EXPECT_EQ(statistics_of(kReal, bytes, 1024).wrong,
              "block 3 has the same samples as the one before it");
}

TEST(ConformanceRecognize, ZerosAndNoiseAreNotARamp)
{
    const std::vector<std::byte> zeros(65536);
    EXPECT_EQ(recognize(kReal, zeros).name, nullptr);
    EXPECT_EQ(recognize(kReal, noise(65536, 400)).name, nullptr);
}

TEST(ConformanceRecognize, ARampWithALossIsRecognized)
{
    std::vector<std::byte> bytes(65536);
    const detail::Generator generator(detail::Pattern::ramp, kReal, 0, 0);
    const std::size_t half = bytes.size() / 2;
    generator.fill(std::span(bytes).first(half), 0);
    generator.fill(std::span(bytes).subspan(half), half / 2 + 40);
    const Recognized found = recognize(kReal, bytes);
    ASSERT_NE(found.name, nullptr);
    EXPECT_EQ(found.findings.lost, 40U);
}

class ConformanceLoopback : public ::testing::Test {
protected:
    // Returns samples after the loopback, which reduces the DAC's 16 bits to the ADC's 12 bits.
    std::vector<std::byte> looped(std::size_t samples)
    {
        std::vector<std::byte> bytes(samples * dac.sample_bytes);
        fill_loopback(dac, bytes);
        change_each(bytes, [](int value) { return value >> 4; });
        return bytes;
    }
    Format dac = Format::parse("ci16_le", "4"), adc = dac;
};

TEST_F(ConformanceLoopback, EverySampleIsReceivedAsPlayed)
{
    for (Channel& channel : adc.channels)
        channel.type.bits = 12;
    const auto bytes = looped(3 * kLoopbackPeriod);
    EXPECT_EQ(loopback_error(adc, bytes), "");
    EXPECT_EQ(loopback_error(adc, std::span(bytes).subspan(777 * adc.sample_bytes)), "");
}

TEST_F(ConformanceLoopback, AWrongBitALostSampleAndSwappedChannelsAreFound)
{
    auto bytes = looped(1000);
    bytes[500 * adc.sample_bytes] ^= std::byte{1};
    EXPECT_NE(loopback_error(adc, bytes).find("at sample 500"), std::string::npos);
    bytes = looped(1000);
    bytes.erase(bytes.begin() + 80, bytes.begin() + 88);
    EXPECT_NE(loopback_error(adc, bytes).find("at sample 10"), std::string::npos);
    bytes = looped(1000);
    for (std::size_t at = 0; at < bytes.size(); at += 8)
        std::swap_ranges(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                         bytes.begin() + static_cast<std::ptrdiff_t>(at) + 2,
                         bytes.begin() + static_cast<std::ptrdiff_t>(at) + 4);
    EXPECT_NE(loopback_error(adc, bytes), "");
}

} // namespace iio_stream::conformance
