// SPDX-License-Identifier: MIT
#include "iio_stream/error.hpp"
#include "serve/write_allowlist.hpp"

#include <gtest/gtest.h>

using namespace iio_stream;
using namespace iio_stream::serve;

namespace {

struct Phy {
    iio::DeviceNode node;
    Tree::Device device{&node, {}, {}};

    Phy()
    {
        node.id = "iio:device1";
        node.name = "ad9361-phy";
        node.label = "radio";
    }
    bool may(const std::string& rule, const std::string& line) const
    {
        return WriteAllowlist({rule}).permits(device, parse_request(line).value());
    }
};

TEST(ServeAllow, ARuleNamesAnAttributeByDeviceChannelAndName)
{
    const Phy phy;
    const std::string gain = "WRITE iio:device1 INPUT voltage0 hardwaregain 3";
    EXPECT_TRUE(phy.may("ad9361-phy/in_voltage0/hardwaregain", gain));
    EXPECT_TRUE(phy.may("radio/in_voltage?/hardwaregain", gain));
    EXPECT_TRUE(phy.may("iio:device1/*", gain));
    EXPECT_TRUE(phy.may("*", gain));
    EXPECT_FALSE(phy.may("ad9361-phy/in_voltage1/*", gain));
    EXPECT_FALSE(phy.may("ad9361-phy/out_voltage0/hardwaregain", gain));
    EXPECT_FALSE(phy.may("ad9361/*", gain));
}

TEST(ServeAllow, OtherRequestsNeedARuleForTheirKind)
{
    const Phy phy;
    for (const char* line :
         {"WRITE iio:device1 DEBUG direct_reg_access 4", "SETTRIG iio:device1 trigger0",
          "OPEN iio:device1 8192 00000001", "WRITE iio:device1 BUFFER data_available 1"})
        for (const char* rule : {"*", "ad9361-phy/*", "*/*"})
            EXPECT_FALSE(phy.may(rule, line)) << rule << ": " << line;
    EXPECT_TRUE(phy.may("debug:ad9361-phy/direct_reg_access",
                        "WRITE iio:device1 DEBUG direct_reg_access 4"));
    EXPECT_TRUE(phy.may("trigger:*", "SETTRIG iio:device1 trigger0"));
    EXPECT_TRUE(phy.may("play:radio", "OPEN iio:device1 8192 00000001"));
}

TEST(ServeAllow, ARuleThatMatchesNothingIsRefused)
{
    for (const char* rule : {"", "hardwaregain", "debug:", "debug:ad9361-phy", "play:"})
        EXPECT_THROW(WriteAllowlist({rule}), Error) << rule;
}

} // namespace
