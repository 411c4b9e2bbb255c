// SPDX-License-Identifier: MIT
#include "framing/bytes.hpp"
#include "iio_stream/error.hpp"
#include "usb/attribute_allowlist.hpp"
#include "usb/descriptors.hpp"

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

// Returns `count` standard descriptors from `at` on.
std::vector<Descriptor> walk(const std::vector<std::byte>& data, std::size_t& at, unsigned count)
{
    std::vector<Descriptor> found;
    for (unsigned i = 0; i < count; ++i) {
        const auto length = static_cast<std::size_t>(framing::get_number(data.data() + at, 1));
        Descriptor d{static_cast<unsigned>(framing::get_number(data.data() + at + 1, 1)), {}};
        for (std::size_t n = 0; n < length; ++n)
            d.bytes.push_back(static_cast<unsigned>(framing::get_number(data.data() + at + n, 1)));
        found.push_back(d);
        at += length;
    }
    return found;
}

unsigned packet_of(const Descriptor& endpoint)
{
    return endpoint.bytes[4] | endpoint.bytes[5] << 8;
}

TEST(UsbDescriptors, TheDescriptorsStateTheirOwnLength)
{
    const auto d = function_descriptors(5);
    EXPECT_EQ(framing::get_number(d.data(), 4), std::uint64_t{FUNCTIONFS_DESCRIPTORS_MAGIC_V2});
    EXPECT_EQ(framing::get_number(d.data() + 4, 4), d.size());
    EXPECT_EQ(framing::get_number(d.data() + 8, 4),
              1u | 2u | 4u | 8u | std::uint64_t{FUNCTIONFS_EVENTFD});
    EXPECT_EQ(framing::get_number(d.data() + 12, 4), 5u);
}

TEST(UsbDescriptors, EachSpeedHasThreeBulkEndpoints)
{
    const auto d = function_descriptors(5);
    const unsigned counts[] = {4, 4, 7}, packets[] = {64, 512, 1024};
    std::size_t at = 16 + 4 * 4;
    for (unsigned speed = 0; speed < 3; ++speed) {
        ASSERT_EQ(framing::get_number(d.data() + 16 + 4 * speed, 4), counts[speed]);
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
    EXPECT_EQ(framing::get_number(d.data() + 16 + 12, 4), 2u); // Microsoft's OS descriptors
    EXPECT_EQ(framing::get_number(d.data() + at + 1, 4), 35u);
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(d.data() + at + 13), 6), "WINUSB");
    at += 35;
    EXPECT_EQ(at + framing::get_number(d.data() + at + 1, 4), d.size());
}

TEST(UsbDescriptors, TheStringsStateTheirOwnLength)
{
    const auto s = function_strings("abc");
    EXPECT_EQ(framing::get_number(s.data() + 4, 4), s.size());
    EXPECT_EQ(s.size(), 16u + 2 + 4);
}

TEST(UsbAllowed, OnlyAttributesOfTheRadioCanBeAllowed)
{
    const std::vector<std::string> names{"frequency", "attr.phy/in_voltage0/x"};
    EXPECT_EQ(AttributeAllowlist::parse("frequency,attr.phy/in_voltage0/x"), names);
    EXPECT_TRUE(AttributeAllowlist::parse("").empty());
    for (const char* wrong : {"frequncy", "rate", "attr.x", "attr", "frequency,,gain", "../x"})
        EXPECT_THROW((void)AttributeAllowlist::parse(wrong), Error) << wrong;
}

TEST(UsbAllowed, TheBoardsAnswerIsAValueOrAnError)
{
    EXPECT_EQ(value_of(R"({"value":"17"})", "gain=17 of board"), "17");
    try {
        (void)value_of(R"({"error":{"errno":22,"message":"write x: EINVAL","hint":"0 to 30"}})",
                       "gain=99");
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.code().value(), 22);
        EXPECT_EQ(error.object(), "gain=99");
        EXPECT_EQ(error.hint(), "0 to 30");
    }
    for (const char* nonsense :
         {"", "[]", "7", "{}", R"({"value":7})", R"({"error":{}})", R"({"error":"x"})"})
        EXPECT_THROW((void)value_of(nonsense, "x"), Error) << nonsense;
}

} // namespace
