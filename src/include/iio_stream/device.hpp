// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/api.hpp"
#include "iio_stream/format.hpp"
#include "iio_stream/tuning.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace iio_stream {

/// An attribute of an IIO device or of one of its channels.
struct AttributeInfo {
    std::string channel; ///< "in_voltage0"; empty for an attribute of the device itself
    std::string name;
    std::string value; ///< as read
    std::string error; ///< why it could not be read; empty if it could
};

/// One buffer of an IIO device.
struct BufferInfo {
    int index = 0;
    bool output = false;
    std::vector<Channel> channels;
    std::size_t alignment = 1; ///< bytes; DMA addresses and lengths are multiples of it
    /// Whether it takes DMABUFs; nullopt if another process streams from it or has it open: it is
    /// not probed then.
    std::optional<bool> dmabuf = false;
    std::string dmabuf_reason; ///< why it takes none, or why that is unknown
    /// The path that path=auto takes, found by trying it: "dmabuf", "mmap" (the kernel's own
    /// blocks) or "fileio" (read() and write()); "" if it was not probed.
    std::string path = {};
    std::vector<std::string> remarks; ///< scan elements that could not be parsed, and why
    /// The attributes that frequency, gain, agc, bandwidth, rate and antenna set, over all
    /// channels: "ad9361-phy/in_voltage0/hardwaregain". Options without an attribute are left out.
    std::map<std::string, std::vector<std::string>> tuning;
};

struct DeviceInfo {
    std::string id, name, label; ///< "iio:device0", "cf-ad9361-lpc", ""
    double sample_rate = 0;      ///< samples per second; 0 = unknown
    std::vector<BufferInfo> buffers;
    std::vector<AttributeInfo> attributes;
    std::vector<std::string> remarks; ///< what could not be read from it, and why
};

/// The IIO devices of a libiio context ("local:", "ip:192.168.2.1" …); an empty list if the machine
/// has no IIO at all. Throws Error if the context cannot be opened.
IIO_STREAM_API std::vector<DeviceInfo> devices(const std::string& uri = "local:");

/// One of them, by name, label, id or endpoint ("iio:NAME"). Throws an Error that suggests the
/// nearest name.
IIO_STREAM_API DeviceInfo device(const std::string& name, const std::string& uri = "local:");

/// Attributes by path, "DEVICE[/CHANNEL]/NAME". Setting one returns what the hardware made of it,
/// read back. Each call opens the context; to access several attributes, use a Device.
IIO_STREAM_API std::string get_attribute(const std::string& path,
                                         const std::string& uri = "local:");
IIO_STREAM_API std::string set_attribute(const std::string& path, const std::string& value,
                                         const std::string& uri = "local:");

/// One IIO device of a libiio context, opened once: its attributes, and the radio in front of it.
///
///     Device adc("cf-ad9361-lpc", "ip:192.168.2.1");
///     Tuning now = adc.tune({.frequency = 2.4e9, .gain = 40});
///     adc.set("ad9361-phy/in_voltage0/rf_bandwidth", 18e6);
///
/// An attribute's path is [DEVICE/][CHANNEL/]NAME; without DEVICE it is an attribute of this
/// device. Owns: the context. Streams nothing, and does not disturb a running stream. Throws:
/// Error, from everything but moves: usage for a name that does not exist (with the nearest one),
/// device if the hardware refuses.
/// Thread: one at a time.
class IIO_STREAM_API Device {
public:
    /// `name` is the device's name, label, id or endpoint ("iio:NAME"); `uri` is libiio's:
    /// "local:", "ip:HOST", "usb:".
    explicit Device(const std::string& name, const std::string& uri = "local:");
    Device(Device&&) noexcept;
    ~Device();

    DeviceInfo info() const; ///< everything known about it; reads every attribute

    /// The value as the kernel prints it, without the newline.
    std::string get(const std::string& attribute) const;
    /// The number the value starts with, whatever unit follows. Throws if it starts with none.
    double get_number(const std::string& attribute) const;
    /// Writes the value and returns what the hardware made of it.
    std::string set(const std::string& attribute, const std::string& value);
    /// The same for a number, in the attribute's own unit; whole numbers are written without a
    /// fraction.
    double set(const std::string& attribute, double value);

    /// The radio's current settings, read back from it.
    Tuning tuning() const;
    /// Applies the settings present in `wanted` and returns what is read back afterwards. Where the
    /// hardware chose another value, tuning.remarks says so.
    Tuning tune(const TuningRequest& wanted);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace iio_stream
