// SPDX-License-Identifier: MIT
#include "iio/iq_pairs.hpp"
#include "support/errors.hpp"

#include <gtest/gtest.h>

namespace iio_stream::iio {
namespace {

using test::expect_usage_error;

// Returns one letter for each of the named channels after pairing: I and Q, r for real, n for a
// counter.
std::string paired(const std::string& device, const std::vector<std::string>& ids,
                   Iq iq = Iq::automatic, const char* last_type = "le:s16/16>>0")
{
    std::vector<Channel> channels;
    for (const std::string& id : ids)
        channels.push_back({id, ScanType{}, static_cast<unsigned>(channels.size())});
    channels.back().type = ScanType::parse(last_type);
    pair_up(device, channels, iq);
    std::string text;
    for (const Channel& channel : channels)
        text += "rIQn"[static_cast<int>(channel.component)];
    return text;
}

TEST(Pairs, ChannelsOfTransceiversWithoutModifiersArePaired)
{
    for (const char* device : {"cf-ad9361-lpc", "cf-ad9361-A", "cf-ad9361-dds-core-lpc",
                               "axi-adrv9002-tx2-lpc", "axi-ad9371-tx-hpc", "axi-adrv9009-tx-hpc"})
        EXPECT_EQ(paired(device, {"voltage0", "voltage1", "voltage2", "voltage3"}), "IQIQ")
            << device;
}

TEST(Pairs, RealConvertersAreNotPaired)
{
    for (const char* device : {"axi-ad9680-hpc", "axi-ad9144-hpc", "axi-ad9152-hpc", "ad9467",
                               "axi-ad9625-hpc", "cf-ad93610-lpc", ""})
        EXPECT_EQ(paired(device, {"voltage0", "voltage1"}), "rr") << device;
}

TEST(Pairs, BothHalvesMustHaveTheSameNumber)
{
    EXPECT_EQ(paired("x", {"voltage0_i", "voltage0_q", "voltage1_i", "voltage1_q"}), "IQIQ");
    EXPECT_EQ(paired("x", {"voltage0_i", "voltage1_q"}), "rr");
    EXPECT_EQ(paired("x", {"voltage0_q", "voltage1_i"}), "rr");
    EXPECT_EQ(paired("x", {"voltage0_q", "voltage1_i", "voltage1_q"}), "rIQ");
    EXPECT_EQ(paired("cf-ad9361-lpc", {"voltage0", "voltage3"}), "rr");
    EXPECT_EQ(paired("cf-ad9361-lpc", {"voltage1", "voltage2"}), "rr");
    EXPECT_EQ(paired("cf-ad9361-lpc", {"voltage2", "voltage3"}), "IQ");
    EXPECT_EQ(paired("cf-ad9361-lpc", {"voltage1"}), "r");
    EXPECT_EQ(paired("x", {"voltage0_i", "voltage0_q"}, Iq::automatic, "le:s12/16>>0"), "rr");
}

TEST(Pairs, TheUsersChoiceOverridesTheDefault)
{
    EXPECT_EQ(paired("axi-ad9680-hpc", {"voltage0", "voltage1"}, Iq::on), "IQ");
    EXPECT_EQ(paired("axi-ad9680-hpc", {"voltage0", "voltage1", "count0"}, Iq::on), "IQn");
    EXPECT_EQ(paired("cf-ad9361-lpc", {"voltage0", "voltage1"}, Iq::off), "rr");
    EXPECT_EQ(paired("x", {"voltage0_i", "voltage0_q", "count0"}, Iq::off), "rrn");
    expect_usage_error(
        [] {
            paired("x", {"voltage0", "voltage1", "voltage2"}, Iq::on);
        },
        "voltage2");
    expect_usage_error([] { paired("x", {"a", "b"}, Iq::on, "le:s12/16>>0"); }, "iq=on");
    expect_usage_error([] { parse_iq("of"); }, "iq=of");
}

TEST(Pairs, AConverterHasOnePairOrOneChannel)
{
    EXPECT_EQ(converter_of("cf-ad9361-A", "voltage5"), 2u);
    EXPECT_EQ(converter_of("axi-ad9371-rx-hpc", "voltage1_q"), 1u);
    EXPECT_EQ(converter_of("axi-ad9680-hpc", "voltage1"), 1u);
    EXPECT_EQ(converter_of("ltc2387", "voltage"), 0u);
}

} // namespace
} // namespace iio_stream::iio
