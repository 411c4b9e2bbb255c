// SPDX-License-Identifier: MIT
// Discovery and attributes of IIO devices: of this machine through sysfs, or of another machine
// through libiio.
#pragma once

#include "iio_stream/format.hpp"

#include <memory>
#include <string>
#include <vector>

namespace iio_stream::iio {

/// The names, attributes and channels of a device.
struct DeviceNode {
    struct Attribute {
        std::string name; ///< name within its owner: "hardwaregain"
        std::string file; ///< its file, which channels can share: "in_voltage_hardwaregain"
    };
    struct Channel {
        std::string id;   ///< "voltage0"
        std::string name; ///< "RX_LO"; "" if it has none
        bool output = false;
        bool scan_element = false;
        long scan_index = 0;
        ScanType type; ///< for remote devices; BufferDir reads the type for local devices
        std::vector<Attribute> attributes;

        std::string full_id() const { return (output ? "out_" : "in_") + id; }
    };

    std::string id, name, label; ///< "iio:device0"; name and label may be empty
    std::vector<Attribute> attributes;
    std::vector<Channel> channels;
};

/// The devices of one machine.
class Context {
public:
    virtual ~Context() = default;

    /// The devices, in the kernel's order. complete() returns their attributes and channels.
    const std::vector<DeviceNode>& devices() const noexcept { return devices_; }
    /// Returns one of devices() with its attributes and channels. A local context lists the files
    /// of a device when this is first called for it, because a device has hundreds of files.
    virtual const DeviceNode& complete(const DeviceNode& device) const { return device; }
    virtual bool is_local() const noexcept = 0;
    /// Reads an attribute of a device (`channel` null) or of one of its channels. The value may end
    /// with a newline. Returns 0 or an errno.
    virtual int read(const DeviceNode& device, const DeviceNode::Channel* channel,
                     const DeviceNode::Attribute& attribute, std::string& value) const = 0;
    virtual int write(const DeviceNode& device, const DeviceNode::Channel* channel,
                      const DeviceNode::Attribute& attribute, const std::string& value) const = 0;

protected:
    std::vector<DeviceNode> devices_;
};

/// A context, shared by all devices that were found in it.
using ContextPtr = std::shared_ptr<const Context>;

/// An attribute of a device or of one of its channels.
struct Attribute {
    std::string channel; ///< "in_voltage0", "out_altvoltage0"; empty = the device itself
    std::string name;
    std::string value; ///< as read; empty if reading failed
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
    const DeviceNode& node() const { return context_->complete(*node_); }
    const ContextPtr& context() const noexcept { return context_; }

    /// The ids of its channels, prefixed with their direction: "in_voltage0".
    std::vector<std::string> channels() const;
    std::string channel_name(const std::string& channel) const; ///< "RX_LO"; "" if it has none
    std::vector<Attribute> attributes() const;
    std::vector<std::string> attribute_names(const std::string& channel) const;
    bool has(const std::string& channel, const std::string& name) const;
    /// The file behind an attribute, which channels can share: "in_voltage_sampling_frequency".
    std::string file_of(const std::string& channel, const std::string& name) const;
    std::string read(const std::string& channel, const std::string& name) const;
    /// Writes a value and returns the value that is read back, which the hardware may have
    /// adjusted.
    std::string write(const std::string& channel, const std::string& name,
                      const std::string& value) const;

    /// The scan elements of one direction of a remote device, in scan order. Elements that cannot
    /// be parsed are left out; `remarks` gets the reasons.
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
/// Finds a device by name, label or id ("iio:device0"). Throws a device Error that suggests the
/// nearest name if there is none, and a usage Error if several devices match.
Device find_device(const ContextPtr& context, const std::string& uri, const std::string& name);

} // namespace iio_stream::iio
