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
    std::string value; ///< value as read
    std::string error; ///< the reason why it could not be read; empty if it could
};

/// One buffer of an IIO device.
struct BufferInfo {
    int index = 0;
    bool output = false;
    std::vector<Channel> channels;
    std::size_t alignment = 1; ///< bytes; DMA addresses and lengths must be multiples of this
    /// Whether it accepts DMABUFs. It is nullopt if another process has the buffer open: the buffer
    /// is not probed then.
    std::optional<bool> dmabuf = false;
    std::string dmabuf_reason; ///< the reason why it does not accept DMABUFs, or why this is
                               ///< unknown
    /// The path that path=auto selects, determined by a test: "dmabuf", "mmap" (the kernel's own
    /// blocks) or "fileio" (read() and write()); "" if it was not probed.
    std::string path = {};
    std::vector<std::string> remarks; ///< scan elements that could not be parsed, and why
    /// The attributes that the options frequency, gain, agc, bandwidth, rate and antenna set, for
    /// all channels: "ad9361-phy/in_voltage0/hardwaregain". Options without an attribute are
    /// omitted.
    std::map<std::string, std::vector<std::string>> tuning;
};

struct DeviceInfo {
    std::string id, name, label; ///< "iio:device0", "cf-ad9361-lpc", ""
    double sample_rate = 0;      ///< samples per second; 0 = unknown
    std::vector<BufferInfo> buffers;
    std::vector<AttributeInfo> attributes;
    std::vector<std::string> remarks; ///< values that could not be read from the device, and why
};

/// Returns the IIO devices of a libiio context ("local:", "ip:192.168.2.1" …). The list is empty if
/// the machine has no IIO support. Throws Error if the context cannot be opened.
IIO_STREAM_API std::vector<DeviceInfo> devices(const std::string& uri = "local:");

/// Returns the device with this name, label, id or endpoint ("iio:NAME"). If there is none, throws
/// an Error that suggests the nearest name.
IIO_STREAM_API DeviceInfo device(const std::string& name, const std::string& uri = "local:");

/// Read or write an attribute by its path, "DEVICE[/CHANNEL]/NAME". Writing returns the value that
/// the hardware has adopted, read back. Each call opens the context; to access several attributes,
/// use a Device.
IIO_STREAM_API std::string get_attribute(const std::string& path,
                                         const std::string& uri = "local:");
IIO_STREAM_API std::string set_attribute(const std::string& path, const std::string& value,
                                         const std::string& uri = "local:");

/// A handle of one IIO device of a libiio context, opened once. It gives access to the device's
/// attributes and to the radio in front of it.
///
///     Device adc("cf-ad9361-lpc", "ip:192.168.2.1");
///     Tuning now = adc.tune({.frequency = 2.4e9, .gain = 40});
///     adc.set("ad9361-phy/in_voltage0/rf_bandwidth", 18e6);
///
/// An attribute's path is [DEVICE/][CHANNEL/]NAME; a path without DEVICE names an attribute of this
/// device. Owns: the context. A Device does not stream and does not disturb a running stream.
/// Throws: Error, from everything but moves: usage for an unknown name (with the nearest known
/// one), device if the hardware rejects the request.
/// Thread: one at a time.
class IIO_STREAM_API Device {
public:
    /// `name` is the device's name, label, id or endpoint ("iio:NAME"). `uri` is a libiio URI:
    /// "local:", "ip:HOST", "usb:".
    explicit Device(const std::string& name, const std::string& uri = "local:");
    Device(Device&&) noexcept;
    ~Device();

    DeviceInfo info() const; ///< everything known about it; reads every attribute

    /// Returns the value as the kernel prints it, without the newline.
    std::string get(const std::string& attribute) const;
    /// Returns the number at the start of the value and ignores any unit after it. Throws if the
    /// value does not start with a number.
    double get_number(const std::string& attribute) const;
    /// Writes the value and returns the value that the hardware has adopted.
    std::string set(const std::string& attribute, const std::string& value);
    /// The same for a number, in the attribute's own unit. Whole numbers are written without a
    /// decimal point.
    double set(const std::string& attribute, double value);

    /// Returns the radio's current settings, read from the hardware.
    Tuning tuning() const;
    /// Applies the settings present in `wanted` and returns the settings read back afterwards.
    /// Tuning::remarks lists the settings for which the hardware chose another value.
    Tuning tune(const TuningRequest& wanted);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace iio_stream
