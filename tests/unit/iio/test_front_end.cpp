// SPDX-License-Identifier: MIT
#include "iio/context/attributes.hpp"
#include "iio/context/firmware_link.hpp"
#include "iio/tuning/front_end.hpp"
#include "support/files.hpp"
#include "support/temp_dir.hpp"

#include <filesystem>
#include <gtest/gtest.h>

namespace iio_stream::iio {
namespace {

TEST(FrontEnd, ARadioBelongsToTheConverterWithItsName)
{
    EXPECT_TRUE(belongs_by_name("ad9361-phy", "cf-ad9361-lpc", ""));
    EXPECT_TRUE(belongs_by_name("ad9361-phy", "cf-ad9361-dds-core-lpc", ""));
    EXPECT_TRUE(belongs_by_name("ad9361-phy-B", "cf-ad9361-A", ""));
    EXPECT_TRUE(belongs_by_name("adrv9002-phy", "axi-adrv9002-rx2-lpc", ""));
    EXPECT_TRUE(belongs_by_name("ad9371-phy", "axi-ad9371-rx-obs-hpc", ""));
    EXPECT_TRUE(belongs_by_name("ad9361-phy", "adc", "my-ad9361"));
}

TEST(FrontEnd, ARadioDoesNotBelongToUnrelatedDevices)
{
    for (const char* converter : {"ad9467", "axi-ad9680-hpc", "cf-ad93610-lpc", "xad9361-lpc", ""})
        EXPECT_FALSE(belongs_by_name("ad9361-phy", converter, "")) << converter;
    EXPECT_FALSE(belongs_by_name("ad9361-phy", "ad9467", "adc"));
    EXPECT_TRUE(belongs_by_name("iios-sim-phy", "iios-sim-adc", ""));
    EXPECT_FALSE(belongs_by_name("iios-sim-phy", "iios-sim-slow", "")); // a sensor of that family
}

TEST(AttributeValue, ANumberCanHaveAUnit)
{
    EXPECT_EQ(number_in_value("71.000000 dB"), 71.0);
    EXPECT_EQ(number_in_value("-10.250000 dB"), -10.25);
    EXPECT_EQ(number_in_value("-400000000"), -4e8);
    EXPECT_EQ(number_in_value("0dB"), 0.0);
    EXPECT_EQ(number_in_value("slow_attack"), std::nullopt);
    EXPECT_EQ(number_in_value("1e400 dB"), std::nullopt);
    EXPECT_EQ(number_in_value("nan"), std::nullopt);
    EXPECT_EQ(number_in_value(""), std::nullopt);
}

TEST(AttributeValue, AListIsNotARange)
{
    using List = std::vector<std::string>;
    EXPECT_EQ(listed_values("30720000 3840000 "), (List{"30720000", "3840000"}));
    EXPECT_EQ(listed_values("spi pin automatic"), (List{"spi", "pin", "automatic"}));
    EXPECT_EQ(listed_values("[-3 1 71]"), List{});
    EXPECT_EQ(listed_values(""), List{});
}

TEST(AttributeValue, NumbersAreWrittenWithAllDigits)
{
    EXPECT_EQ(hertz_text(-4e8), "-400000000");
    EXPECT_EQ(hertz_text(6e9), "6000000000");
    EXPECT_EQ(number_text(-10.25), "-10.25");
}

// A node of the device tree is a folder, and a phandle is four big-endian bytes. The value 10 is a
// newline.
TEST(FirmwareLink, NodesAreLinkedIfOnePointsAtTheOther)
{
    using namespace std::string_literals;
    const test::TempDir dir;
    const auto node = [&](const char* name, const char* file, const std::string& bytes) {
        std::filesystem::create_directory(dir / name);
        test::write_text(dir / (std::string(name) + "/" + file), bytes);
    };
    node("phy", "phandle", "\0\0\0\n"s);
    node("other", "phandle", "\0\0\0\v"s);
    node("core", "spibus-connected", "\0\0\0\n"s);
    node("frontend", "io-backends", "\0\0\0\v\0\0\0\n"s);
    EXPECT_TRUE(nodes_linked(dir / "core", dir / "phy"));
    EXPECT_TRUE(nodes_linked(dir / "phy", dir / "core"));
    EXPECT_FALSE(nodes_linked(dir / "core", dir / "other"));
    EXPECT_TRUE(nodes_linked(dir / "frontend", dir / "other"));
    EXPECT_FALSE(nodes_linked(dir / "frontend", dir / "phy"));
    EXPECT_FALSE(nodes_linked(dir / "none", dir / "phy"));
}

} // namespace
} // namespace iio_stream::iio
