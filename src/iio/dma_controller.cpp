// SPDX-License-Identifier: MIT
#include "iio/dma_controller.hpp"

#include "sys/files.hpp"

#include <filesystem>

namespace iio_stream::iio {

namespace {

namespace fs = std::filesystem;

/// The controller of one of a device's DMA channels, the named one if it has several; "" if it has
/// none. The DMA engine links each client to its channels: DEVICE/dma:rx →
/// …/CONTROLLER/dma/dma0chan0.
std::string linked_controller(const fs::path& device, const std::string& channel_name)
{
    std::string found;
    std::error_code error;
    for (const std::string& name : sys::list_directory(device)) {
        if (!name.starts_with("dma:"))
            continue;
        const fs::path channel = fs::canonical(device / name, error);
        if (!error && (found.empty() || name == channel_name))
            found = channel.parent_path().parent_path().filename();
    }
    return found;
}

} // namespace

// In mainline the channel belongs not to the converter chip, which is a device on SPI, but to its
// backend, the core in the FPGA: DEVICE/supplier:platform:44a00000.adc/supplier → that.
std::string dma_controller_of(const std::string& device_id, bool output)
{
    const std::string channel = output ? "dma:tx" : "dma:rx";
    std::error_code error;
    const fs::path device = fs::canonical("/sys/bus/iio/devices/" + device_id, error).parent_path();
    std::string found = linked_controller(device, channel);
    for (const std::string& name : sys::list_directory(device))
        if (found.empty() && name.starts_with("supplier:"))
            found = linked_controller(device / name / "supplier", channel);
    return found;
}

} // namespace iio_stream::iio
