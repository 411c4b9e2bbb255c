// SPDX-License-Identifier: MIT
// Lines that the client of libiio 0.24 sends (iiod-client.c), and some that no client sends.
#include "serve/request.hpp"

#include <gtest/gtest.h>

using namespace iio_stream::serve;

namespace {

Request parsed(std::string_view line)
{
    const auto request = parse_request(line);
    EXPECT_TRUE(request) << line;
    return request.value_or(Request{});
}

TEST(ServeRequest, SingleWordsAreInUpperOrLowerCase)
{
    EXPECT_EQ(parsed("VERSION\r").verb, Verb::version);
    EXPECT_EQ(parsed("print").verb, Verb::print);
    EXPECT_EQ(parsed("QUIT").verb, Verb::exit);
    EXPECT_EQ(parsed("\r").verb, Verb::nothing);
    EXPECT_EQ(parsed("").verb, Verb::nothing);
    EXPECT_FALSE(parse_request("Print"));
    EXPECT_FALSE(parse_request("BINARY"));
    EXPECT_FALSE(parse_request("PRINT me"));
}

TEST(ServeRequest, OpenHasSamplesAMaskAndAnOptionalCyclicFlag)
{
    const Request request = parsed("OPEN iio:device0 8192 0000000f\r");
    EXPECT_EQ(request.verb, Verb::open);
    EXPECT_EQ(request.device, "iio:device0");
    EXPECT_EQ(request.number, 8192U);
    EXPECT_EQ(request.mask, "0000000f");
    EXPECT_FALSE(request.cyclic);
    EXPECT_TRUE(parsed("OPEN iio:device1 1 00000001 CYCLIC").cyclic);
    EXPECT_FALSE(parse_request("OPEN iio:device1 1 00000001 SPIN"));
    EXPECT_FALSE(parse_request("OPEN iio:device1 1"));
}

TEST(ServeRequest, AttributesHaveAnOwner)
{
    EXPECT_EQ(parsed("READ iio:device0 sampling_frequency").attribute, "sampling_frequency");
    EXPECT_EQ(parsed("READ iio:device0 \r").attribute, ""); // all attributes
    EXPECT_EQ(parsed("READ iio:device0 DEBUG direct_reg_access").owner, Owner::debug);
    EXPECT_EQ(parsed("READ iio:device0 BUFFER length_align_bytes").owner, Owner::buffer);
    const Request request = parsed("READ iio:device1 OUTPUT altvoltage0 frequency\r");
    EXPECT_EQ(request.owner, Owner::output);
    EXPECT_EQ(request.channel, "altvoltage0");
    EXPECT_EQ(request.attribute, "frequency");
    EXPECT_FALSE(parse_request("READ iio:device1 OUTPUT"));
}

TEST(ServeRequest, AWriteStatesHowManyBytesFollow)
{
    const Request one = parsed("WRITE iio:device1 INPUT voltage0 hardwaregain 3");
    EXPECT_EQ(one.attribute, "hardwaregain");
    EXPECT_EQ(one.number, 3U);
    const Request all = parsed("WRITE iio:device1 INPUT voltage0  64");
    EXPECT_EQ(all.attribute, "");
    EXPECT_EQ(all.number, 64U);
    EXPECT_FALSE(parse_request("WRITE iio:device1 INPUT voltage0 hardwaregain"));
    EXPECT_FALSE(parse_request("WRITE iio:device1 rate -1"));
}

TEST(ServeRequest, NumbersMustBeWholeAndInRange)
{
    EXPECT_EQ(parsed("READBUF iio:device0 18446744073709551615").number, UINT64_MAX);
    EXPECT_FALSE(parse_request("READBUF iio:device0 18446744073709551616"));
    EXPECT_FALSE(parse_request("READBUF iio:device0 12x"));
    EXPECT_FALSE(parse_request("TIMEOUT"));
    EXPECT_EQ(parsed("SET iio:device0 BUFFERS_COUNT 4").number, 4U);
}

TEST(ServeRequest, ALineOfTooManyWordsIsNotACommand)
{
    EXPECT_FALSE(parse_request("CLOSE a b c d e f g h i j k l"));
    EXPECT_EQ(parsed("SETTRIG iio:device0").trigger, "");
    EXPECT_EQ(parsed("SETTRIG iio:device0 trigger0").trigger, "trigger0");
}

} // namespace
