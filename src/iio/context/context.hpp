// SPDX-License-Identifier: MIT
// The IIO devices of this machine, by sysfs, or of another one, by libiio: discovery and
// attributes.
#pragma once

#include "iio_stream/format.hpp"

#include <memory>
#include <string>
#include <vector>

namespace iio_stream::iio {

/// What is known about a device since its context was opened.
struct DeviceNode {
    struct Attribute {
        std::string name; ///< within its owner: "hardwaregain"
        std::string file; ///< behind it, which channels may share: "in_voltage_hardwaregain"
    };
    struct Channel {
        std::string id;   ///< "voltage0"
        std::string name; ///< "RX_LO"; "" if it has none
        bool output = false;
        bool scan_element = false;
        long scan_index = 0;
        ScanType type; ///< of a remote one; BufferDir reads the local ones'
        std::vector<Attribute> attributes;

        std::string full_id() const { return (output ? "out_" : "in_") + id; }
    };

    std::string id, name, label; ///< "iio:device0"; name and label may be empty
    std::vector<Attribute> attributes;
    std::vector<Channel> channels;
};

/// Some machine's devices.
class Context {
public:
    virtual ~Context() = default;

    const std::vector<DeviceNode>& devices() const noexcept { return devices_; }
    virtual bool is_local() const noexcept = 0;
    /// An attribute of a device (`channel` null) or of one of its channels, with the newline that
    /// ends it or without: 0 or the errno.
    virtual int read(const DeviceNode& device, const DeviceNode::Channel* channel,
                     const DeviceNode::Attribute& attribute, std::string& value) const = 0;
    virtual int write(const DeviceNode& device, const DeviceNode::Channel* channel,
                      const DeviceNode::Attribute& attribute, const std::string& value) const = 0;

protected:
    std::vector<DeviceNode> devices_;
};

/// Shared by what was found in it.
using ContextPtr = std::shared_ptr<const Context>;

/// An attribute of a device or of one of its channels.
struct Attribute {
    std::string channel; ///< "in_voltage0", "out_altvoltage0"; empty for the device's own
    std::string name;
    std::string value; ///< as read; empty where reading failed
    std::string error; ///< why reading failed
};

/// One IIO device, local or remote. Cheap to copy.
/// Thread: one at a time for all devices of a remote context (libiio's rule).
class Device {
public:
    Device(ContextPtr context, const DeviceNode& node) : context_(std::move(context)), node_(&node)
    {}

    const std::string& id() const noexcept { return node_->id; }       ///< "iio:device0"
    const std::string& name() const noexcept { return node_->name; }   ///< "" if it has none
    const std::string& label() const noexcept { return node_->label; } ///< "" if it has none
    bool is_local() const noexcept { return context_->is_local(); }
    const DeviceNode& node() const noexcept { return *node_; }
    const ContextPtr& context() const noexcept { return context_; }

    /// Ids of its channels with their direction in front: "in_voltage0".
    std::vector<std::string> channels() const;
    std::string channel_name(const std::string& channel) const; ///< "RX_LO"; "" if it has none
    std::vector<Attribute> attributes() const;
    std::vector<std::string> attribute_names(const std::string& channel) const;
    bool has(const std::string& channel, const std::string& name) const;
    /// The file behind an attribute, which channels may share: "in_voltage_sampling_frequency".
    std::string file_of(const std::string& channel, const std::string& name) const;
    std::string read(const std::string& channel, const std::string& name) const;
    /// Writes and reads back: what the hardware made of it.
    std::string write(const std::string& channel, const std::string& name,
                      const std::string& value) const;

    /// The scan elements of one direction of a remote device, in scan order, and in `remarks` those
    /// that cannot be understood, which are left out.
    std::vector<Channel> scan_elements(bool output, std::vector<std::string>& remarks) const;

private:
    const DeviceNode::Channel& find_channel(const std::string& id) const;
    const std::vector<DeviceNode::Attribute>& attributes_of(const std::string& channel) const;
    const DeviceNode::Attribute& find(const std::string& channel, const std::string& name) const;
    std::string object_of(const std::string& channel, const std::string& name) const;
    std::string way_out(int error, const std::string& channel, const std::string& name) const;

    ContextPtr context_;
    const DeviceNode* node_;
};

std::vector<Device> devices(const ContextPtr& context);
/// By name, label or id ("iio:device0"); a usage Error names the nearest.
Device find_device(const ContextPtr& context, const std::string& uri, const std::string& name);

} // namespace iio_stream::iio
