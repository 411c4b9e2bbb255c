// SPDX-License-Identifier: MIT
// Converters that read one buffer for each pair or channel, or write one.
#include "iio_stream/format.hpp"
#include "support/values.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;

using Bytes = std::vector<std::byte>;

Bytes random_bytes(std::size_t size)
{
    std::mt19937 random(5);
    Bytes bytes(size);
    for (std::byte& byte : bytes)
        byte = static_cast<std::byte>(random());
    return bytes;
}

Format channels_of(const std::string& type, std::size_t count)
{
    std::string types = type;
    for (std::size_t i = 1; i < count; ++i)
        types += "," + type;
    return Format::parse(types);
}

// Buffers at odd addresses with a byte behind that must not be written.
struct Buffers {
    Buffers(std::size_t count, std::size_t size)
        : bytes(count, Bytes(1 + size + 1, std::byte{0x5a}))
    {
        for (Bytes& buffer : bytes)
            at.push_back(buffer.data() + 1);
    }
    std::vector<const std::byte*> to_read() const { return {at.begin(), at.end()}; }
    std::vector<Bytes> bytes;
    std::vector<std::byte*> at;
};

// Deinterleaves samples, and compares each value with its definition and each sample with the
// result of interleave().
void expect_both_ways(const Format& from, const Format& to, std::size_t buffers,
                      std::size_t samples)
{
    const std::string what = from.name() + " to " + to.name() + ", " + std::to_string(buffers) +
                             " buffers of " + std::to_string(samples);
    const std::size_t width = from.channels.size() / buffers, value = to.channels[0].type.bytes();
    Bytes in = random_bytes(1 + samples * from.sample_bytes);
    const std::span<const std::byte> samples_in = std::span(in).subspan(1);
    Buffers made(buffers, samples * width * value);
    Converter(from, to).deinterleave(samples_in, made.at);
    for (std::size_t n = 0; n < samples; ++n)
        for (std::size_t i = 0; i < from.channels.size(); ++i) {
            const Channel& channel = from.channels[i];
            const std::byte* const given = &samples_in[n * from.sample_bytes + channel.offset];
            const std::byte* const found = made.at[i / width] + (n * width + i % width) * value;
            if (channel.type == to.channels[i].type)
                ASSERT_TRUE(std::equal(given, given + value, found)) << what;
            else
                ASSERT_TRUE(is_converted(channel.type, given, to.channels[i].type, found)) << what;
        }
    for (const Bytes& buffer : made.bytes)
        ASSERT_TRUE(buffer.front() == std::byte{0x5a} && buffer.back() == std::byte{0x5a}) << what;

    Bytes packed(samples * to.sample_bytes);
    for (std::size_t n = 0; n < samples; ++n)
        for (std::size_t i = 0; i < buffers; ++i)
            std::copy_n(made.at[i] + n * width * value, width * value,
                        &packed[n * to.sample_bytes + i * width * value]);
    Bytes merged(1 + samples * from.sample_bytes + 1, std::byte{0x5a}), expected = merged;
    const Converter back(to, from);
    back.convert(packed, std::span(expected).subspan(1, samples * from.sample_bytes));
    back.interleave(made.to_read(), std::span(merged).subspan(1, samples * from.sample_bytes));
    ASSERT_EQ(merged, expected) << what;
}

const std::vector<const char*> kStored{"le:s16/16>>0", "be:s16/16>>0", "le:s12/16>>0",
                                       "le:s12/16>>4", "le:u8/8>>0",   "le:s24/32>>0",
                                       "be:u24/32>>8", "le:f32/32>>0"};

TEST(ConvertBuffers, EachPairOfEveryTypeGoesToItsBufferAndBack)
{
    for (const char* type : kStored)
        for (const char* item : {"rf32_le", "ri16_le", "ri8", "ru16_le", "ri16_be"})
            for (const std::size_t pairs : {1U, 2U, 3U, 4U, 9U})
                for (const std::size_t samples : {1U, 257U, 600U})
                    expect_both_ways(channels_of(type, 2 * pairs),
                                     Format::parse(item, std::to_string(2 * pairs)), pairs,
                                     samples);
}

TEST(ConvertBuffers, EveryLengthIsConvertedCompletely)
{
    for (const char* type : {"le:s16/16>>0", "le:s12/16>>0"})
        for (const std::size_t pairs : {2U, 4U})
            for (std::size_t samples = 0; samples <= 300; ++samples)
                expect_both_ways(channels_of(type, 2 * pairs),
                                 Format::parse("rf32_le", std::to_string(2 * pairs)), pairs,
                                 samples);
}

TEST(ConvertBuffers, AnyNumberOfChannelsSharesABuffer)
{
    for (const char* type : {"le:s16/16>>0", "le:s8/8>>0", "le:s32/32>>0"})
        for (const std::size_t buffers : {1U, 4U, 6U, 12U, 24U})
            expect_both_ways(channels_of(type, 24), Format::parse("rf32_le", "24"), buffers, 600);
    Format many = channels_of("le:s16/16>>0", 1), floats = Format::parse("rf32_le", "1");
    for (Format* format : {&many, &floats}) { // more channels than a kernel converts at once
        format->channels.resize(1200, format->channels[0]);
        format->lay_out();
    }
    expect_both_ways(many, floats, 2, 5);
}

TEST(ConvertBuffers, ChannelsOfLargerSamplesAreTakenFromTheirPlaces)
{
    // A counter lies between two pairs; two channels are not used.
    const Format whole = Format::parse("le:s16/16>>0,le:s16/16>>0,le:u64/64>>0,le:s16/16>>0,le:s16/"
                                       "16>>0,le:s16/16>>0,be:s24/32>>0");
    for (const std::vector<std::size_t>& chosen :
         {std::vector<std::size_t>{0, 1, 3, 4}, {0, 1}, {3, 4}, {0, 1, 4, 6}, {3, 4, 5, 0}}) {
        Format from = whole;
        from.channels.clear();
        for (const std::size_t i : chosen)
            from.channels.push_back(whole.channels[i]);
        for (const char* item : {"rf32_le", "ri16_le"})
            for (const std::size_t width : {1U, 2U})
                expect_both_ways(from, Format::parse(item, std::to_string(chosen.size())),
                                 chosen.size() / width, 700);
    }
}

TEST(ConvertBuffers, ValuesThatNoKernelConvertsAreConverted)
{
    for (const char* type : {"le:s64/64>>0", "be:f64/64>>0"})
        expect_both_ways(channels_of(type, 4), Format::parse("rf32_le", "4"), 2, 513);
}

} // namespace
