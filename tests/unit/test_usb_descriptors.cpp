// SPDX-License-Identifier: MIT
#include "usb/descriptors.hpp"

#include "iio_stream/error.hpp"
#include "usb/allowed.hpp"
#include "usb/bytes.hpp"
#include "usb/info.hpp"

#include <linux/usb/functionfs.h>

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace {

using namespace iio_stream;
using namespace iio_stream::usb;

struct Descriptor {
    unsigned type;
    std::vector<unsigned> bytes;
};

// `count` standard descriptors from `at` on.
std::vector<Descriptor> walk(const std::vector<std::byte>& data, std::size_t& at, unsigned count)
{
    std::vector<Descriptor> found;
    for (unsigned i = 0; i < count; ++i) {
        const auto length = static_cast<std::size_t>(get_number(data.data() + at, 1));
        Descriptor d{static_cast<unsigned>(get_number(data.data() + at + 1, 1)), {}};
        for (std::size_t n = 0; n < length; ++n)
            d.bytes.push_back(static_cast<unsigned>(get_number(data.data() + at + n, 1)));
        found.push_back(d);
        at += length;
    }
    return found;
}

unsigned packet_of(const Descriptor& endpoint)
{
    return endpoint.bytes[4] | endpoint.bytes[5] << 8;
}

TEST(UsbDescriptors, StateTheirOwnLength)
{
    const auto d = function_descriptors(5);
    EXPECT_EQ(get_number(d.data(), 4), std::uint64_t{FUNCTIONFS_DESCRIPTORS_MAGIC_V2});
    EXPECT_EQ(get_number(d.data() + 4, 4), d.size());
    EXPECT_EQ(get_number(d.data() + 8, 4), 1u | 2u | 4u | 8u | std::uint64_t{FUNCTIONFS_EVENTFD});
    EXPECT_EQ(get_number(d.data() + 12, 4), 5u);
}

TEST(UsbDescriptors, HaveThreeBulkEndpointsAtEachSpeed)
{
    const auto d = function_descriptors(5);
    const unsigned counts[] = {4, 4, 7}, packets[] = {64, 512, 1024};
    std::size_t at = 16 + 4 * 4;
    for (unsigned speed = 0; speed < 3; ++speed) {
        ASSERT_EQ(get_number(d.data() + 16 + 4 * speed, 4), counts[speed]);
        const auto found = walk(d, at, counts[speed]);
        EXPECT_EQ(found[0].type, 4u);
        EXPECT_EQ(found[0].bytes[4], 3u);
        EXPECT_EQ(found[0].bytes[5], 0xffu);
        EXPECT_EQ(found[0].bytes[6], 0x49u);
        std::vector<unsigned> addresses;
        for (const Descriptor& one : found) {
            if (one.type == 5) {
                addresses.push_back(one.bytes[2]);
                EXPECT_EQ(one.bytes[3], 2u); // bulk
                EXPECT_EQ(packet_of(one), packets[speed]);
            } else if (one.type == 0x30) {
                EXPECT_EQ(one.bytes[2], 15u); // burst
            }
        }
        EXPECT_EQ(addresses, (std::vector<unsigned>{0x81, 0x02, 0x83}));
    }
    EXPECT_EQ(get_number(d.data() + 16 + 12, 4), 2u); // Microsoft's
    EXPECT_EQ(get_number(d.data() + at + 1, 4), 35u);
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(d.data() + at + 13), 6), "WINUSB");
    at += 35;
    EXPECT_EQ(at + get_number(d.data() + at + 1, 4), d.size());
}

TEST(UsbDescriptors, StringsStateTheirOwnLength)
{
    const auto s = function_strings("abc");
    EXPECT_EQ(get_number(s.data() + 4, 4), s.size());
    EXPECT_EQ(s.size(), 16u + 2 + 4);
}

StreamShape some_shape()
{
    StreamShape shape{Format::parse("ci16_le", "a,b,c,d"), 65536, "iio:adc", {}, {}};
    shape.format.sample_rate = 1e6;
    return shape;
}

std::string some_info()
{
    return info_json({some_shape(), {}, "1"}, {7, 8});
}

TEST(UsbInfo, TheFormatRoundTrips)
{
    const BoardInfo info = parse_info(some_info());
    EXPECT_EQ(info.version, "1");
    EXPECT_FALSE(info.to_board);
    ASSERT_TRUE(info.to_host);
    const StreamShape& shape = *info.to_host;
    EXPECT_EQ(shape.wire_bytes, 65536u);
    EXPECT_EQ(shape.source, "iio:adc");
    EXPECT_EQ(shape.format.name(), "ci16_le");
    EXPECT_EQ(shape.format.sample_bytes, 8u);
    EXPECT_EQ(shape.format.sample_rate, 1e6);
    ASSERT_EQ(shape.format.channels.size(), 4u);
    EXPECT_EQ(shape.format.channels[3].id, "d");
    EXPECT_TRUE(shape.format.is_complex());
}

TEST(UsbInfo, BothClocksAreReported)
{
    EXPECT_NE(some_info().find(R"("clock":{"monotonic_ns":7,"realtime_ns":8})"), std::string::npos);
}

TEST(UsbInfo, RadioSettingsAndPermissionsRoundTrip)
{
    StreamShape shape = some_shape();
    EXPECT_FALSE(parse_info(info_json({shape, {}, "1"}, {7, 8})).to_host->tuning.frequency);
    shape.tuning = {2.4e9, 40.0, std::nullopt, 1e6, "A_BALANCED", "adc", {}, "slow_attack"};
    shape.attributes = {"frequency", "attr.phy/x"};
    const BoardInfo info = parse_info(info_json({shape, {}, "1"}, {7, 8}));
    EXPECT_EQ(info.to_host->tuning.frequency, 2.4e9);
    EXPECT_EQ(info.to_host->tuning.gain, 40.0);
    EXPECT_FALSE(info.to_host->tuning.bandwidth);
    EXPECT_EQ(info.to_host->tuning.rate, 1e6);
    EXPECT_EQ(info.to_host->tuning.antenna, "A_BALANCED");
    EXPECT_EQ(info.to_host->tuning.agc, "slow_attack");
    EXPECT_EQ(info.to_host->tuning.hardware, "adc");
    EXPECT_EQ(info.to_host->attributes, shape.attributes);
}

TEST(UsbAllowed, OnlyAttributesOfTheRadioCanBeAllowed)
{
    const std::vector<std::string> names{"frequency", "attr.phy/in_voltage0/x"};
    EXPECT_EQ(Allowed::parse("frequency,attr.phy/in_voltage0/x"), names);
    EXPECT_TRUE(Allowed::parse("").empty());
    for (const char* wrong : {"frequncy", "rate", "attr.x", "attr", "frequency,,gain", "../x"})
        EXPECT_THROW((void)Allowed::parse(wrong), Error) << wrong;
}

TEST(UsbAllowed, TheBoardsAnswerIsAValueOrItsError)
{
    EXPECT_EQ(value_of(R"({"value":"17"})", "gain=17 of board"), "17");
    try {
        (void)value_of(R"({"error":{"errno":22,"message":"write x: EINVAL","hint":"0 to 30"}})", "gain=99");
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.code().value(), 22);
        EXPECT_EQ(error.object(), "gain=99");
        EXPECT_EQ(error.hint(), "0 to 30");
    }
    for (const char* nonsense : {"", "[]", "7", "{}", R"({"value":7})", R"({"error":{}})", R"({"error":"x"})"})
        EXPECT_THROW((void)value_of(nonsense, "x"), Error) << nonsense;
}

TEST(UsbInfo, EachDirectionIsReported)
{
    const BoardInfo one = parse_info(info_json({{}, some_shape(), "1"}, {7, 8}));
    EXPECT_FALSE(one.to_host);
    ASSERT_TRUE(one.to_board);
    EXPECT_EQ(one.to_board->wire_bytes, 65536u);
    StreamShape other = some_shape();
    other.wire_bytes = 1024;
    const BoardInfo both = parse_info(info_json({some_shape(), other, "1"}, {7, 8}));
    ASSERT_TRUE(both.to_host && both.to_board);
    EXPECT_EQ(both.to_host->wire_bytes, 65536u);
    EXPECT_EQ(both.to_board->wire_bytes, 1024u);
    const BoardInfo none = parse_info(info_json({{}, {}, "1"}, {7, 8}));
    EXPECT_FALSE(none.to_host || none.to_board);
}

std::string replaced(const std::string& from, const std::string& to)
{
    std::string text = some_info();
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
}

TEST(UsbInfo, AHostileBoardIsRefused)
{
    for (const std::string& text :
         {std::string(""), std::string("{}"), std::string("[]"), std::string("{\"protocol\":1}"),
          replaced("\"protocol\":1", "\"protocol\":2"), replaced("65536", "65537"),
          replaced("65536", "0"), replaced("65536", "-1024"), replaced("65536", "1099511627776"),
          replaced("1000000.0", "-1.0"), replaced("le:s16/16>>0", "nonsense"),
          replaced("\"component\":\"i\"", "\"component\":7"),
          replaced("\"component\":\"i\"", "\"component\":\"x\""),
          replaced("\"index\":0", "\"index\":\"0\""), replaced("\"index\":0", "\"index\":4294967296"),
          replaced("65536", "134217728"), replaced("65536", "65536.0"),
          replaced("1000000.0", "1e300"), replaced("\"protocol\":1", "\"protocol\":4294967297")})
        EXPECT_THROW(parse_info(text), Error) << text;
}

TEST(UsbInfo, NoEscapeSequenceGetsThrough)
{
    const BoardInfo info = parse_info(
        replaced("\"version\":\"1\"", "\"version\":\"\\u001b[2J\\u009b31m\""));
    EXPECT_EQ(info.version, "\\x1b[2J\\xc2\\x9b31m");
}

TEST(UsbInfo, TruncatedAnywhereItIsRefused)
{
    const std::string whole = some_info();
    for (std::size_t n = 0; n < whole.size(); ++n)
        EXPECT_THROW(parse_info(whole.substr(0, n)), Error) << n;
}

} // namespace
