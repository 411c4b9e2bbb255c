// SPDX-License-Identifier: MIT
#pragma once

#include "iio/context/context.hpp"
#include "serve/request.hpp"

#include <memory>
#include <string>
#include <vector>

namespace iio_stream::serve {

/// This machine's devices as a client sees them: with the attributes of their buffers, and those
/// for debugging. Thread: any number at a time.
class Tree {
public:
    struct Device {
        const iio::DeviceNode* node;
        std::vector<std::string> buffer, debug; ///< names of these attributes

        const iio::DeviceNode::Channel* find_channel(const std::string& name, bool output) const;
        /// "cf-ad9361-lpc", or its id.
        const std::string& name() const { return node->name.empty() ? node->id : node->name; }
        /// Its folder in sysfs, with a slash at its end.
        std::string dir() const { return "/sys/bus/iio/devices/" + node->id + "/"; }
    };

    /// As it is now; empty where the kernel has no IIO.
    static std::shared_ptr<const Tree> read();

    const std::vector<Device>& devices() const noexcept { return devices_; }
    const iio::ContextPtr& context() const noexcept { return context_; }
    /// By id, name or label; null if there is none.
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

/// The version of libiio whose protocol this is, for VERSION and the XML.
inline constexpr int kMajor = 0, kMinor = 26;
inline constexpr const char* kGitTag = "iio-str"; ///< seven characters

} // namespace iio_stream::serve
