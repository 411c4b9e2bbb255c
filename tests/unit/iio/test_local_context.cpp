// SPDX-License-Identifier: MIT
// A device's files in sysfs become channels and attributes. tests/vm/test_boards.py compares the
// result with libiio for the devices of real boards.
#include "iio/context/local_context.hpp"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <map>

namespace {

using namespace iio_stream::iio;

class LocalDevice : public testing::Test {
protected:
    void SetUp() override
    {
        std::string made = testing::TempDir() + "device-XXXXXX";
        ASSERT_NE(::mkdtemp(made.data()), nullptr);
        dir_ = made;
    }
    void TearDown() override { std::filesystem::remove_all(dir_); }

    void file(const std::string& name, const std::string& text = "0\n") const
    {
        std::filesystem::create_directories((dir_ / name).parent_path());
        std::ofstream(dir_ / name) << text;
    }
    DeviceNode read() const { return read_device(dir_.string()); }

    std::filesystem::path dir_;
};

std::map<std::string, std::string> files_of(const std::vector<DeviceNode::Attribute>& attributes)
{
    std::map<std::string, std::string> files;
    for (const auto& attribute : attributes)
        files[attribute.name] = attribute.file;
    return files;
}

const DeviceNode::Channel& channel(const DeviceNode& device, const std::string& id)
{
    for (const auto& one : device.channels)
        if (one.full_id() == id)
            return one;
    throw std::out_of_range(id);
}

using Files = std::map<std::string, std::string>;

TEST_F(LocalDevice, ADeviceHasANameALabelAndAttributes)
{
    for (const char* name : {"dev", "uevent", "sampling_frequency_available", "buffer/enable"})
        file(name);
    file("name", "adc\n");
    file("label", "left one\n");
    const DeviceNode device = read();
    EXPECT_EQ(device.id, dir_.filename());
    EXPECT_EQ(device.name, "adc");
    EXPECT_EQ(device.label, "left one");
    EXPECT_EQ(files_of(device.attributes),
              (Files{{"sampling_frequency_available", "sampling_frequency_available"}}));
    EXPECT_TRUE(device.channels.empty());
}

TEST_F(LocalDevice, AnAttributeSharedByTypeBelongsToEachChannel)
{
    for (const char* name :
         {"in_voltage0_raw", "in_voltage1_raw", "in_voltage_scale", "out_voltage0_raw"})
        file(name);
    const DeviceNode device = read();
    ASSERT_EQ(device.channels.size(), 3);
    EXPECT_TRUE(device.attributes.empty());
    for (const char* number : {"0", "1"})
        EXPECT_EQ(files_of(channel(device, std::string("in_voltage") + number).attributes),
                  (Files{{"raw", std::string("in_voltage") + number + "_raw"},
                         {"scale", "in_voltage_scale"}}));
    EXPECT_EQ(files_of(channel(device, "out_voltage0").attributes),
              (Files{{"raw", "out_voltage0_raw"}}));
}

// Names that the kernel uses in drivers/iio/imu/bno055 and
// drivers/iio/magnetometer/hid-sensor-magn-3d.
TEST_F(LocalDevice, AnUnknownModifierIsKept)
{
    for (const char* name :
         {"in_accel_linear_x_raw", "in_accel_linear_y_raw", "in_rot_from_north_magnetic_raw",
          "in_rot_from_north_magnetic_tilt_comp_raw"})
        file(name);
    const DeviceNode device = read();
    EXPECT_EQ(channel(device, "in_accel_linear_x").attributes[0].name, "raw");
    EXPECT_EQ(channel(device, "in_accel_linear_y").attributes[0].name, "raw");
    EXPECT_EQ(files_of(channel(device, "in_rot_from_north_magnetic").attributes),
              (Files{{"raw", "in_rot_from_north_magnetic_raw"}}));
    EXPECT_EQ(files_of(channel(device, "in_rot_from_north_magnetic_tilt_comp").attributes),
              (Files{{"raw", "in_rot_from_north_magnetic_tilt_comp_raw"}}));
}

TEST_F(LocalDevice, AChannelsNameIsTheCommonPrefixOfItsFiles)
{
    for (const char* name : {"out_altvoltage0_RX_LO_frequency", "out_altvoltage0_RX_LO_powerdown",
                             "out_altvoltage1_TX_LO_frequency", "out_altvoltage1_TX_LO_powerdown"})
        file(name);
    const DeviceNode device = read();
    EXPECT_EQ(channel(device, "out_altvoltage0").name, "RX_LO");
    EXPECT_EQ(channel(device, "out_altvoltage1").name, "TX_LO");
    EXPECT_EQ(files_of(channel(device, "out_altvoltage1").attributes),
              (Files{{"frequency", "out_altvoltage1_TX_LO_frequency"},
                     {"powerdown", "out_altvoltage1_TX_LO_powerdown"}}));
}

TEST_F(LocalDevice, AFileWithAChannelsNameBelongsToThatChannelOnly)
{
    for (const char* name :
         {"in_voltage0_left_raw", "in_voltage0_left_offset", "in_voltage1_right_raw",
          "in_voltage1_right_offset", "in_voltage_left_scale"})
        file(name);
    const DeviceNode device = read();
    EXPECT_EQ(files_of(channel(device, "in_voltage0").attributes).at("scale"),
              "in_voltage_left_scale");
    EXPECT_EQ(channel(device, "in_voltage1").attributes.size(), 2);
}

TEST_F(LocalDevice, ModifiersBelongToTheChannelId)
{
    for (const char* name : {"in_voltage0_i_calibbias", "in_voltage0_q_calibbias", "in_accel_x_raw",
                             "in_accel_y_raw", "in_accel_scale", "in_anglvel_x&y_raw"})
        file(name);
    const DeviceNode device = read();
    EXPECT_EQ(files_of(channel(device, "in_voltage0_i").attributes),
              (Files{{"calibbias", "in_voltage0_i_calibbias"}}));
    EXPECT_EQ(files_of(channel(device, "in_accel_y").attributes),
              (Files{{"raw", "in_accel_y_raw"}, {"scale", "in_accel_scale"}}));
    EXPECT_NO_THROW(channel(device, "in_anglvel_x&y"));
}

TEST_F(LocalDevice, DifferentialChannelsShareOnlyDifferentialAttributes)
{
    for (const char* name :
         {"in_voltage0-voltage1_raw", "in_voltage2_raw", "in_voltage-voltage_scale"})
        file(name);
    const DeviceNode device = read();
    EXPECT_EQ(files_of(channel(device, "in_voltage0-voltage1").attributes).at("scale"),
              "in_voltage-voltage_scale");
    EXPECT_EQ(channel(device, "in_voltage2").attributes.size(), 1);
}

TEST_F(LocalDevice, AChannelNeedNotHaveANumber)
{
    for (const char* name : {"in_temp_raw", "in_temp_scale", "in_timestamp_type"})
        file(name);
    const DeviceNode device = read();
    EXPECT_EQ(files_of(channel(device, "in_temp").attributes),
              (Files{{"raw", "in_temp_raw"}, {"scale", "in_temp_scale"}}));
    EXPECT_NO_THROW(channel(device, "in_timestamp"));
}

TEST_F(LocalDevice, ScanElementsComeFirstInTheirOrder)
{
    file("in_voltage0_raw");
    file("in_current0_raw");
    file("scan_elements/in_voltage1_index", "0\n");
    file("scan_elements/in_voltage0_index", "1\n");
    file("scan_elements/in_voltage0_type", "le:s12/16>>0\n");
    file("scan_elements/in_timestamp_index", "2\n");
    std::vector<std::string> ids;
    for (const auto& one : read().channels)
        ids.push_back(one.full_id() + (one.scan_element ? "*" : ""));
    EXPECT_EQ(ids, (std::vector<std::string>{"in_voltage1*", "in_voltage0*", "in_timestamp*",
                                             "in_current0"}));
}

TEST_F(LocalDevice, OddFileNamesBecomeAttributesOfTheDevice)
{
    for (const char* name : {"in_", "in_voltage", "out_", "input_power", "in_x"})
        file(name);
    const DeviceNode device = read();
    EXPECT_EQ(device.attributes.size(), 5);
    EXPECT_TRUE(device.channels.empty());
}

} // namespace
