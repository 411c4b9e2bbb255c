// SPDX-License-Identifier: MIT
// libiio 0.24's API, and all of it that we use: discovery, attributes, remote devices.
#pragma once

#include "iio_stream/format.hpp"

#include <memory>
#include <string>
#include <vector>

struct iio_buffer;
struct iio_channel;
struct iio_context;
struct iio_device;

namespace iio_stream::iio {

/// A libiio context, shared by what was found in it.
using ContextPtr = std::shared_ptr<iio_context>;

/// An attribute of a device or of one of its channels.
struct Attribute {
    std::string channel; ///< "in_voltage0", "out_altvoltage0"; empty for the device's own
    std::string name;
    std::string value;   ///< as read; empty where reading failed
    std::string error;   ///< why reading failed
};

/// One IIO device, local or remote. Cheap to copy.
/// Thread: one at a time (libiio's rule for a context).
class Device {
public:
    Device(ContextPtr context, iio_device* device) : context_(std::move(context)), device_(device)
    {}

    std::string id() const;    ///< "iio:device0"
    std::string name() const;  ///< "" where it has none
    std::string label() const; ///< "" where it has none
    bool is_local() const;
    iio_device* raw() const noexcept { return device_; }
    const ContextPtr& context() const noexcept { return context_; }

    /// Ids of its channels with their direction in front: "in_voltage0".
    std::vector<std::string> channels() const;
    std::string channel_name(const std::string& channel) const; ///< "RX_LO"; "" where it has none
    std::vector<Attribute> attributes() const;
    std::vector<std::string> attribute_names(const std::string& channel) const;
    bool has(const std::string& channel, const std::string& name) const;
    /// The file behind an attribute, which channels may share: "in_voltage_sampling_frequency".
    std::string file_of(const std::string& channel, const std::string& name) const;
    std::string read(const std::string& channel, const std::string& name) const;
    /// Writes and reads back: what the hardware made of it.
    std::string write(const std::string& channel, const std::string& name,
                      const std::string& value) const;

    /// The scan elements of one direction, in scan order, and in `remarks` those that cannot be
    /// understood, which are left out.
    std::vector<Channel> scan_elements(bool output, std::vector<std::string>& remarks) const;

private:
    iio_channel* find_channel(const std::string& id) const;
    std::string object_of(const std::string& channel, const std::string& name) const;
    std::string way_out(int error, const std::string& channel, const std::string& name) const;

    ContextPtr context_;
    iio_device* device_;
};

/// Opens a context by libiio's URI ("local:", "ip:192.168.2.1", "usb:").
ContextPtr open_context(const std::string& uri);
std::vector<Device> devices(const ContextPtr& context);
/// By name, label or id ("iio:device0"); a usage Error names the nearest.
Device find_device(const ContextPtr& context, const std::string& uri, const std::string& name);

} // namespace iio_stream::iio
