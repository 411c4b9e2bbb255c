// SPDX-License-Identifier: MIT
#include "framing/info.hpp"
#include "iio_stream/error.hpp"

#include <gtest/gtest.h>
#include <string>

namespace {

using namespace iio_stream;
using namespace iio_stream::framing;

PeerInfo parsed_info(const std::string& text)
{
    return parse_info(text, "a peer's answer");
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

TEST(FramingInfo, TheFormatRoundTrips)
{
    const PeerInfo info = parsed_info(some_info());
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

TEST(FramingInfo, BothClocksAreReported)
{
    EXPECT_NE(some_info().find(R"("clock":{"monotonic_ns":7,"realtime_ns":8})"), std::string::npos);
}

TEST(FramingInfo, RadioSettingsAndPermissionsRoundTrip)
{
    StreamShape shape = some_shape();
    EXPECT_FALSE(parsed_info(info_json({shape, {}, "1"}, {7, 8})).to_host->tuning.frequency);
    shape.tuning = {2.4e9, 40.0, std::nullopt, 1e6, "A_BALANCED", "adc", {}, "slow_attack"};
    shape.attributes = {"frequency", "attr.phy/x"};
    const PeerInfo info = parsed_info(info_json({shape, {}, "1"}, {7, 8}));
    EXPECT_EQ(info.to_host->tuning.frequency, 2.4e9);
    EXPECT_EQ(info.to_host->tuning.gain, 40.0);
    EXPECT_FALSE(info.to_host->tuning.bandwidth);
    EXPECT_EQ(info.to_host->tuning.rate, 1e6);
    EXPECT_EQ(info.to_host->tuning.antenna, "A_BALANCED");
    EXPECT_EQ(info.to_host->tuning.agc, "slow_attack");
    EXPECT_EQ(info.to_host->tuning.hardware, "adc");
    EXPECT_EQ(info.to_host->attributes, shape.attributes);
}

TEST(FramingInfo, EachDirectionIsReported)
{
    const PeerInfo one = parsed_info(info_json({{}, some_shape(), "1"}, {7, 8}));
    EXPECT_FALSE(one.to_host);
    ASSERT_TRUE(one.to_board);
    EXPECT_EQ(one.to_board->wire_bytes, 65536u);
    StreamShape other = some_shape();
    other.wire_bytes = 1024;
    const PeerInfo both = parsed_info(info_json({some_shape(), other, "1"}, {7, 8}));
    ASSERT_TRUE(both.to_host && both.to_board);
    EXPECT_EQ(both.to_host->wire_bytes, 65536u);
    EXPECT_EQ(both.to_board->wire_bytes, 1024u);
    const PeerInfo none = parsed_info(info_json({{}, {}, "1"}, {7, 8}));
    EXPECT_FALSE(none.to_host || none.to_board);
}

std::string replaced(const std::string& from, const std::string& to)
{
    std::string text = some_info();
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
}

TEST(FramingInfo, AnInvalidPeerInfoIsRefused)
{
    for (const std::string& text :
         {std::string(""), std::string("{}"), std::string("[]"), std::string("{\"protocol\":1}"),
          replaced("\"protocol\":1", "\"protocol\":2"), replaced("65536", "65537"),
          replaced("65536", "0"), replaced("65536", "-1024"), replaced("65536", "1099511627776"),
          replaced("1000000.0", "-1.0"), replaced("le:s16/16>>0", "nonsense"),
          replaced("\"component\":\"i\"", "\"component\":7"),
          replaced("\"component\":\"i\"", "\"component\":\"x\""),
          replaced("\"index\":0", "\"index\":\"0\""),
          replaced("\"index\":0", "\"index\":4294967296"), replaced("65536", "134217728"),
          replaced("65536", "65536.0"), replaced("1000000.0", "1e300"),
          replaced("\"protocol\":1", "\"protocol\":4294967297")})
        EXPECT_THROW(parsed_info(text), Error) << text;
}

TEST(FramingInfo, EscapeSequencesAreMadeHarmless)
{
    const PeerInfo info =
        parsed_info(replaced("\"version\":\"1\"", "\"version\":\"\\u001b[2J\\u009b31m\""));
    EXPECT_EQ(info.version, "\\x1b[2J\\xc2\\x9b31m");
}

TEST(FramingInfo, ATruncatedInfoIsRefused)
{
    const std::string whole = some_info();
    for (std::size_t n = 0; n < whole.size(); ++n)
        EXPECT_THROW(parsed_info(whole.substr(0, n)), Error) << n;
}

} // namespace
