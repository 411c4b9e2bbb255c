// SPDX-License-Identifier: MIT
#include "serve/tree.hpp"

#include "iio/context/local_context.hpp"
#include "iio_stream/error.hpp"
#include "sys/files.hpp"

#include <algorithm>
#include <array>

namespace iio_stream::serve {

namespace {

constexpr const char* kSysfs = "/sys/bus/iio/devices/";
constexpr const char* kDebugfs = "/sys/kernel/debug/iio/";

// libiio does not list these attributes, because it sets them itself for each stream.
constexpr std::array kReserved{"length", "enable", "watermark"};

std::vector<std::string> buffer_attributes(const std::string& id)
{
    std::vector<std::string> names = sys::list_files(kSysfs + id + "/buffer");
    std::erase_if(names, [](const std::string& name) {
        return std::find(kReserved.begin(), kReserved.end(), name) != kReserved.end();
    });
    return names;
}

bool has(const std::vector<std::string>& names, const std::string& name)
{
    return std::find(names.begin(), names.end(), name) != names.end();
}

std::string file_in(const std::vector<iio::DeviceNode::Attribute>& attributes,
                    const std::string& name)
{
    for (const iio::DeviceNode::Attribute& attribute : attributes)
        if (attribute.name == name)
            return attribute.file;
    return "";
}

} // namespace

std::shared_ptr<const Tree> Tree::read()
{
    auto tree = std::make_shared<Tree>();
    try {
        tree->context_ = iio::open_local();
    } catch (const Error&) {
        return tree; // a driver may be loaded later
    }
    for (const iio::DeviceNode& node : tree->context_->devices())
        tree->devices_.push_back({&tree->context_->complete(node), buffer_attributes(node.id),
                                  sys::list_files(kDebugfs + node.id)});
    return tree;
}

const iio::DeviceNode::Channel* Tree::Device::find_channel(const std::string& name,
                                                           bool output) const
{
    for (const iio::DeviceNode::Channel& channel : node->channels)
        if (channel.output == output &&
            (channel.id == name || (!name.empty() && channel.name == name)))
            return &channel;
    return nullptr;
}

const Tree::Device* Tree::find(const std::string& name) const
{
    for (const Device& device : devices_)
        if (device.node->id == name || device.node->name == name || device.node->label == name)
            return &device;
    return nullptr;
}

// Finds listed attributes only, so a name from a client never becomes a path.
std::string Tree::file_of(const Device& device, const Request& attribute) const
{
    const std::string& name = attribute.attribute;
    const std::string dir = device.dir();
    std::string file;
    switch (attribute.owner) {
    case Owner::device:
        file = file_in(device.node->attributes, name);
        break;
    case Owner::input:
    case Owner::output:
        if (const auto* channel =
                device.find_channel(attribute.channel, attribute.owner == Owner::output))
            file = file_in(channel->attributes, name);
        break;
    case Owner::buffer:
        return has(device.buffer, name) ? dir + "buffer/" + name : "";
    case Owner::debug:
        return has(device.debug, name) ? kDebugfs + device.node->id + "/" + name : "";
    }
    return file.empty() ? "" : dir + file;
}

std::string Tree::trigger_file(const Device& device)
{
    return device.dir() + "trigger/current_trigger";
}

std::vector<std::string> Tree::names_of(const Device& device, const Request& owner)
{
    if (owner.owner == Owner::buffer)
        return device.buffer;
    if (owner.owner == Owner::debug)
        return device.debug;
    const std::vector<iio::DeviceNode::Attribute>* all = &device.node->attributes;
    if (owner.owner != Owner::device) {
        const auto* channel = device.find_channel(owner.channel, owner.owner == Owner::output);
        if (channel == nullptr)
            return {};
        all = &channel->attributes;
    }
    std::vector<std::string> names;
    for (const iio::DeviceNode::Attribute& attribute : *all)
        names.push_back(attribute.name);
    return names;
}

} // namespace iio_stream::serve
