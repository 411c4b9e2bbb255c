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

/// An attribute of an IIO device, or of one of its channels.
struct AttributeInfo {
    std::string channel; ///< "in_voltage0"; empty for the device's own
    std::string name;
    std::string value;   ///< as read
    std::string error;   ///< why it could not be read; else empty
};

/// One buffer of an IIO device.
struct BufferInfo {
    int index = 0;
    bool output = false;
    std::vector<Channel> channels;
    std::size_t alignment = 1;  ///< of DMA lengths and addresses, bytes
    /// Whether it takes DMABUFs; nullopt where it could not be asked, as another has it open.
    std::optional<bool> dmabuf = false;
    std::string dmabuf_reason;  ///< why not, or why nobody knows
    std::vector<std::string> remarks; ///< scan elements that cannot be understood, and why
    /// What frequency, gain, agc, bandwidth, rate and antenna set, for all its channels: attributes,
    /// "ad9361-phy/in_voltage0/hardwaregain". An option that it has none for is not there.
    std::map<std::string, std::vector<std::string>> tuning;
};

struct DeviceInfo {
    std::string id, name, label; ///< "iio:device0", "cf-ad9361-lpc", ""
    double sample_rate = 0;      ///< samples per second; 0 = unknown
    std::vector<BufferInfo> buffers;
    std::vector<AttributeInfo> attributes;
    std::vector<std::string> remarks; ///< what could not be found out of it, and why
};

/// The IIO devices of a libiio context ("local:", "ip:192.168.2.1" …). None is an empty list where
/// the machine has no IIO at all. Throws Error where the context cannot be opened.
IIO_STREAM_API std::vector<DeviceInfo> devices(const std::string& uri = "local:");

/// One of them, by name, label, id or as an endpoint is written, "iio:NAME"; throws an Error that
/// names the nearest.
IIO_STREAM_API DeviceInfo device(const std::string& name, const std::string& uri = "local:");

/// Attributes by path, "DEVICE[/CHANNEL]/NAME". Setting reads back what the hardware made of it. Each call
/// opens the context; who reads several takes a Device.
IIO_STREAM_API std::string get_attribute(const std::string& path, const std::string& uri = "local:");
IIO_STREAM_API std::string set_attribute(const std::string& path, const std::string& value,
                                         const std::string& uri = "local:");

/// One IIO device of a libiio context, opened once: its attributes, and the radio in front of it.
///
///     Device adc("cf-ad9361-lpc", "ip:192.168.2.1");
///     Tuning now = adc.tune({.frequency = 2.4e9, .gain = 40});
///     adc.set("ad9361-phy/in_voltage0/rf_bandwidth", 18e6);
///
/// An attribute's path is [DEVICE/][CHANNEL/]NAME, without DEVICE this device's own.
/// Owns: the context. It streams nothing, and does not disturb who streams.
/// Throws: Error, from all but what it is moved by: usage for a name that is not there (with the nearest one),
/// device where the hardware refuses.
/// Thread: one at a time.
class IIO_STREAM_API Device {
public:
    /// `name` is its name, label or id, or an endpoint, "iio:NAME"; `uri` libiio's: "local:", "ip:HOST", "usb:".
    explicit Device(const std::string& name, const std::string& uri = "local:");
    Device(Device&&) noexcept;
    ~Device();

    DeviceInfo info() const; ///< all that is known of it; reads each attribute

    /// As the kernel prints it, without the line's end.
    std::string get(const std::string& attribute) const;
    /// The number that it begins with, whatever unit follows; throws where it begins with none.
    double get_number(const std::string& attribute) const;
    /// Writes it, and returns what the hardware made of it.
    std::string set(const std::string& attribute, const std::string& value);
    /// The same of a number, in the attribute's own unit; whole ones are written without a fraction.
    double set(const std::string& attribute, double value);

    /// How its radio is set, as read back from it.
    Tuning tuning() const;
    /// Sets what `wanted` has, and returns what is read back then; where the hardware made something else of
    /// it, tuning.remarks say so.
    Tuning tune(const TuningRequest& wanted);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace iio_stream
