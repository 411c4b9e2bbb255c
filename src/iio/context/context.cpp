// SPDX-License-Identifier: MIT
#include "iio/context/context.hpp"

#include "core/base/text.hpp"
#include "iio/iq_pairs.hpp"
#include "iio_stream/error.hpp"
#include "iio_stream/units.hpp"

#include <algorithm>
#include <cerrno>
#include <iterator>

namespace iio_stream::iio {

namespace {

std::string known_as(const Device& device)
{
    return device.name().empty() ? device.id() : device.name();
}

std::vector<Device> those_called(const std::vector<Device>& all,
                                 const std::string& (Device::*property)() const noexcept,
                                 const std::string& name)
{
    std::vector<Device> found;
    std::copy_if(all.begin(), all.end(), std::back_inserter(found), [&](const Device& device) {
        return !name.empty() && (device.*property)() == name;
    });
    return found;
}

Device only(const std::vector<Device>& found, const std::string& name)
{
    if (found.size() == 1)
        return found.front();
    std::string list;
    for (const Device& device : found) {
        const std::string label = device.label();
        list +=
            (list.empty() ? "" : ", ") + device.id() + (label.empty() ? "" : " (" + label + ")");
    }
    fail_usage("'" + name + "' matches " + std::to_string(found.size()) + " devices",
               "pick one by id or label: " + list);
}

} // namespace

std::vector<Device> devices(const ContextPtr& context)
{
    std::vector<Device> all;
    for (const DeviceNode& node : context->devices())
        all.emplace_back(context, node);
    return all;
}

Device find_device(const ContextPtr& context, const std::string& uri, const std::string& name)
{
    // The device may be unplugged before its attributes are needed.
    const auto with_attributes = [](const Device& device) {
        (void)device.node();
        return device;
    };
    // The name may have the form of an endpoint.
    const std::string plain = name.starts_with("iio:") ? name.substr(4) : name;
    const std::vector<Device> all = devices(context);
    for (const Device& device : all)
        if (plain == device.id() || "iio:" + plain == device.id())
            return with_attributes(device);
    // Board makers distinguish two chips of one kind by their labels, so labels take precedence.
    for (const auto property : {&Device::label, &Device::name})
        if (const auto found = those_called(all, property, plain); !found.empty())
            return with_attributes(only(found, plain));
    std::vector<std::string> known;
    for (const Device& device : all)
        known.push_back(known_as(device));
    throw Error(Fault::device, ENODEV, "find the IIO device", name, "no such device in " + uri,
                suggest(name, known));
}

std::string Device::object_of(const std::string& channel, const std::string& name) const
{
    return known_as(*this) + (channel.empty() ? "" : "/" + channel) + "/" + name;
}

// Explains why a driver refuses a value. Converters that tune their interface to the FPGA for each
// rate (ad9467) refuse a rate while they stream.
std::string Device::way_out(int error, const std::string& channel, const std::string& name) const
{
    if (error == EBUSY)
        return "its driver changes " + name + " only while the device does not stream";
    if (error != EINVAL)
        return "";
    try {
        if (has(channel, name + "_available"))
            return name + "_available: " + read(channel, name + "_available");
    } catch (const Error&) {
        // The driver's list cannot be read, so it is left out.
    }
    return "its driver refuses the value; the kernel log (dmesg) may say why";
}

std::vector<std::string> Device::channels() const
{
    std::vector<std::string> ids;
    for (const DeviceNode::Channel& channel : node().channels)
        ids.push_back(channel.full_id());
    return ids;
}

// Finds a channel by its id ("in_voltage0"), by its id without the direction ("voltage0"; inputs
// take precedence), or by its name ("RX_LO").
const DeviceNode::Channel& Device::find_channel(const std::string& id) const
{
    std::vector<std::string> known;
    for (const bool output : {false, true})
        for (const DeviceNode::Channel& channel : node().channels) {
            if (channel.output != output)
                continue;
            if (id == channel.full_id() || id == channel.id || id == channel.name)
                return channel;
            known.push_back(channel.full_id());
        }
    fail_usage(known_as(*this) + " has no channel '" + id + "'", suggest(id, known));
}

std::string Device::channel_name(const std::string& channel) const
{
    return find_channel(channel).name;
}

const std::vector<DeviceNode::Attribute>& Device::attributes_of(const std::string& channel) const
{
    return channel.empty() ? node().attributes : find_channel(channel).attributes;
}

std::vector<std::string> Device::attribute_names(const std::string& channel) const
{
    std::vector<std::string> names;
    for (const DeviceNode::Attribute& attribute : attributes_of(channel))
        names.push_back(attribute.name);
    return names;
}

bool Device::has(const std::string& channel, const std::string& name) const
{
    const auto& all = attributes_of(channel);
    return std::any_of(all.begin(), all.end(),
                       [&](const auto& attribute) { return attribute.name == name; });
}

const DeviceNode::Attribute& Device::find(const std::string& channel, const std::string& name) const
{
    for (const DeviceNode::Attribute& attribute : attributes_of(channel))
        if (attribute.name == name)
            return attribute;
    fail_usage(known_as(*this) + (channel.empty() ? "" : "/" + channel) + " has no attribute '" +
                   name + "'",
               suggest(name, attribute_names(channel)));
}

std::string Device::file_of(const std::string& channel, const std::string& name) const
{
    return has(channel, name) ? find(channel, name).file : name;
}

std::vector<Attribute> Device::attributes() const
{
    std::vector<std::string> owners = channels();
    owners.insert(owners.begin(), "");
    std::vector<Attribute> all;
    for (const std::string& owner : owners)
        for (const std::string& name : attribute_names(owner)) {
            Attribute attribute{owner, name, {}, {}};
            try {
                attribute.value = read(owner, name);
            } catch (const Error& error) {
                attribute.error = error.what();
            }
            all.push_back(std::move(attribute));
        }
    return all;
}

std::string Device::read(const std::string& channel, const std::string& name) const
{
    const DeviceNode::Attribute& attribute = find(channel, name);
    std::string text;
    if (const int error = context_->read(node(), channel.empty() ? nullptr : &find_channel(channel),
                                         attribute, text))
        throw Error(Fault::device, error, "read", object_of(channel, name));
    while (!text.empty() && text.back() == '\n')
        text.pop_back();
    return text;
}

std::string Device::write(const std::string& channel, const std::string& name,
                          const std::string& value) const
{
    const DeviceNode::Attribute& attribute = find(channel, name);
    if (const int error = context_->write(
            node(), channel.empty() ? nullptr : &find_channel(channel), attribute, value))
        throw Error(Fault::device, error, "write", object_of(channel, name + "=" + value), {},
                    way_out(error, channel, name));
    return read(channel, name);
}

std::vector<Channel> Device::scan_elements(bool output, std::vector<std::string>& remarks) const
{
    std::vector<Channel> elements;
    for (const DeviceNode::Channel& channel : node().channels) {
        if (!channel.scan_element || channel.output != output)
            continue;
        Channel element;
        element.id = detail::printable(channel.id);
        element.type = channel.type;
        element.scan_index = static_cast<unsigned>(channel.scan_index);
        try {
            (void)ScanType::parse(element.type.text()); // libiio does not check it
            elements.push_back(std::move(element));
        } catch (const Error& error) {
            remarks.push_back("channel " + element.id + ": " + error.what());
        }
    }
    std::stable_sort(elements.begin(), elements.end(), [](const Channel& a, const Channel& b) {
        return a.scan_index < b.scan_index;
    });
    pair_up(name(), elements, Iq::automatic);
    return elements;
}

} // namespace iio_stream::iio
