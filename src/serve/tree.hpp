// SPDX-License-Identifier: MIT
#pragma once

#include "iio/context/context.hpp"
#include "serve/request.hpp"

#include <memory>
#include <string>
#include <vector>

namespace iio_stream::serve {

/// This machine's devices as a client sees them, including buffer and debug attributes. Thread: any
/// number at a time.
class Tree {
public:
    struct Device {
        const iio::DeviceNode* node;
        std::vector<std::string> buffer, debug; ///< names of the buffer and debug attributes

        const iio::DeviceNode::Channel* find_channel(const std::string& name, bool output) const;
        /// The name, such as "cf-ad9361-lpc", or the id if the device has no name.
        const std::string& name() const { return node->name.empty() ? node->id : node->name; }
        /// The device's folder in sysfs, with a trailing slash.
        std::string dir() const { return "/sys/bus/iio/devices/" + node->id + "/"; }
    };

    /// Reads the current devices; the tree is empty if the kernel has no IIO.
    static std::shared_ptr<const Tree> read();

    const std::vector<Device>& devices() const noexcept { return devices_; }
    const iio::ContextPtr& context() const noexcept { return context_; }
    /// Finds a device by id, name or label; null if there is none.
    const Device* find(const std::string& name) const;
    /// The path of an attribute's file; empty if there is no such attribute.
    std::string file_of(const Device& device, const Request& attribute) const;
    static std::string trigger_file(const Device& device);
    /// Names of all attributes of that owner, in the order of the XML.
    static std::vector<std::string> names_of(const Device& device, const Request& owner);

private:
    iio::ContextPtr context_; ///< null where the kernel has no IIO
    std::vector<Device> devices_;
};

/// The libiio version whose protocol the server implements, as reported by VERSION and the XML.
inline constexpr int kMajor = 0, kMinor = 26;
inline constexpr const char* kGitTag = "iio-str"; ///< seven characters

} // namespace iio_stream::serve
