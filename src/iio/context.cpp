// SPDX-License-Identifier: MIT
#include "iio/context.hpp"

#include "core/text.hpp"
#include "iio/pairs.hpp"
#include "iio/silent_xml.hpp"
#include "iio_stream/error.hpp"
#include "iio_stream/units.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <iio.h>
#include <iterator>

namespace iio_stream::iio {

namespace {

std::string or_empty(const char* text)
{
    return text == nullptr ? "" : text;
}

std::string id_of(const iio_channel* channel)
{
    return std::string(iio_channel_is_output(channel) ? "out_" : "in_") +
           iio_channel_get_id(channel);
}

ScanType scan_type_of(const iio_data_format& format)
{
    ScanType type;
    type.number = format.is_signed ? ScanType::Number::signed_integer
                                   : ScanType::Number::unsigned_integer;
    type.big_endian = format.is_be;
    type.bits = format.bits;
    type.storage_bits = format.length;
    type.shift = format.shift;
    type.repeat = std::max(format.repeat, 1U);
    return type;
}

std::string known_as(const Device& device)
{
    return device.name().empty() ? device.id() : device.name();
}

std::vector<Device> those_called(const std::vector<Device>& all,
                                 std::string (Device::*property)() const, const std::string& name)
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
        list += (list.empty() ? "" : ", ") + device.id() + (label.empty() ? "" : " (" + label + ")");
    }
    fail_usage("'" + name + "' are " + std::to_string(found.size()) + " devices",
               "pick one by id or label: " + list);
}

} // namespace

ContextPtr open_context(const std::string& uri)
{
    const SilentXml silent;
    errno = 0;
    const std::string scratch = uri.c_str(); // libiio 0.24 cuts the port off in place
    iio_context* context = uri == "local:" ? iio_create_local_context()
                                           : iio_create_context_from_uri(scratch.c_str());
    if (context == nullptr)
        throw Error(Fault::device, errno == 0 ? ENODEV : errno, "open the IIO context", uri, {},
                    uri == "local:" ? "there is no IIO device: is its driver loaded?" : "");
    return {context, &iio_context_destroy};
}

std::vector<Device> devices(const ContextPtr& context)
{
    std::vector<Device> all;
    for (unsigned i = 0; i < iio_context_get_devices_count(context.get()); ++i)
        all.emplace_back(context, iio_context_get_device(context.get(), i));
    return all;
}

Device find_device(const ContextPtr& context, const std::string& uri, const std::string& name)
{
    const std::string plain = name.starts_with("iio:") ? name.substr(4) : name; // of an endpoint
    const std::vector<Device> all = devices(context);
    for (const Device& device : all)
        if (plain == device.id() || "iio:" + plain == device.id())
            return device;
    // A label is what a board's maker tells two chips of one kind apart by: before the names.
    for (const auto property : {&Device::label, &Device::name})
        if (const auto found = those_called(all, property, plain); !found.empty())
            return only(found, plain);
    std::vector<std::string> known;
    for (const Device& device : all)
        known.push_back(known_as(device));
    throw Error(Fault::device, ENODEV, "find the IIO device", name,
                "no such device in " + uri, suggest(name, known));
}

std::string Device::id() const { return or_empty(iio_device_get_id(device_)); }
std::string Device::name() const { return or_empty(iio_device_get_name(device_)); }
std::string Device::label() const { return or_empty(iio_device_get_label(device_)); }

bool Device::is_local() const
{
    return or_empty(iio_context_get_name(context_.get())) == "local";
}

std::string Device::object_of(const std::string& channel, const std::string& name) const
{
    return known_as(*this) + (channel.empty() ? "" : "/" + channel) + "/" + name;
}

// What the driver means by its refusal of a value. Converters that tune their interface to the FPGA
// anew for each rate (ad9467) refuse a rate while they stream.
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
        // Then the driver's list is no help.
    }
    return "its driver refuses the value; the kernel log (dmesg) may say why";
}

std::vector<std::string> Device::channels() const
{
    std::vector<std::string> ids;
    for (unsigned i = 0; i < iio_device_get_channels_count(device_); ++i)
        ids.push_back(id_of(iio_device_get_channel(device_, i)));
    return ids;
}

// "in_voltage0", or without its direction, "voltage0", where that is not ambiguous to the eye: the
// input comes first. A channel's name ("RX_LO") serves too.
iio_channel* Device::find_channel(const std::string& id) const
{
    std::vector<std::string> known;
    for (const bool output : {false, true})
        for (unsigned i = 0; i < iio_device_get_channels_count(device_); ++i) {
            iio_channel* channel = iio_device_get_channel(device_, i);
            if (iio_channel_is_output(channel) != output)
                continue;
            if (id == id_of(channel) || id == iio_channel_get_id(channel) ||
                id == or_empty(iio_channel_get_name(channel)))
                return channel;
            known.push_back(id_of(channel));
        }
    fail_usage(known_as(*this) + " has no channel '" + id + "'", suggest(id, known));
}

std::string Device::channel_name(const std::string& channel) const
{
    return or_empty(iio_channel_get_name(find_channel(channel)));
}

std::vector<std::string> Device::attribute_names(const std::string& channel) const
{
    std::vector<std::string> names;
    if (channel.empty()) {
        for (unsigned i = 0; i < iio_device_get_attrs_count(device_); ++i)
            names.emplace_back(iio_device_get_attr(device_, i));
        return names;
    }
    const iio_channel* at = find_channel(channel);
    for (unsigned i = 0; i < iio_channel_get_attrs_count(at); ++i)
        names.emplace_back(iio_channel_get_attr(at, i));
    return names;
}

bool Device::has(const std::string& channel, const std::string& name) const
{
    const auto names = attribute_names(channel);
    return std::find(names.begin(), names.end(), name) != names.end();
}

std::string Device::file_of(const std::string& channel, const std::string& name) const
{
    return channel.empty() ? name
                           : or_empty(iio_channel_attr_get_filename(find_channel(channel), name.c_str()));
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
    if (!has(channel, name))
        fail_usage(known_as(*this) + (channel.empty() ? "" : "/" + channel) +
                       " has no attribute '" + name + "'",
                   suggest(name, attribute_names(channel)));
    std::array<char, 4096> value;
    const ssize_t got =
        channel.empty()
            ? iio_device_attr_read(device_, name.c_str(), value.data(), value.size())
            : iio_channel_attr_read(find_channel(channel), name.c_str(), value.data(),
                                    value.size());
    if (got < 0)
        throw Error(Fault::device, static_cast<int>(-got), "read", object_of(channel, name));
    std::string text(value.data());
    while (!text.empty() && text.back() == '\n')
        text.pop_back();
    return text;
}

std::string Device::write(const std::string& channel, const std::string& name,
                          const std::string& value) const
{
    if (!has(channel, name))
        (void)read(channel, name); // tells what there is
    const ssize_t put =
        channel.empty() ? iio_device_attr_write(device_, name.c_str(), value.c_str())
                        : iio_channel_attr_write(find_channel(channel), name.c_str(), value.c_str());
    if (put < 0)
        throw Error(Fault::device, static_cast<int>(-put), "write",
                    object_of(channel, name + "=" + value), {},
                    way_out(static_cast<int>(-put), channel, name));
    return read(channel, name);
}

std::vector<Channel> Device::scan_elements(bool output, std::vector<std::string>& remarks) const
{
    std::vector<Channel> elements;
    for (unsigned i = 0; i < iio_device_get_channels_count(device_); ++i) {
        const iio_channel* channel = iio_device_get_channel(device_, i);
        if (!iio_channel_is_scan_element(channel) || iio_channel_is_output(channel) != output)
            continue;
        Channel element;
        element.id = detail::printable(iio_channel_get_id(channel));
        element.type = scan_type_of(*iio_channel_get_data_format(channel));
        element.scan_index = static_cast<unsigned>(iio_channel_get_index(channel));
        try {
            (void)ScanType::parse(element.type.text()); // libiio takes what it is given
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
