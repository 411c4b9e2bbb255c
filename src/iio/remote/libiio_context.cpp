// SPDX-License-Identifier: MIT
#include "iio/remote/libiio_context.hpp"

#include "iio/remote/libiio.hpp"
#include "iio/remote/remote.hpp"
#include "iio_stream/error.hpp"
#include "sys/captured_stderr.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

namespace iio_stream::iio {

namespace {

std::string or_empty(const char* text)
{
    return text == nullptr ? "" : text;
}

ScanType scan_type_of(const iio_data_format* raw)
{
    const auto& format = *reinterpret_cast<const DataFormat*>(raw);
    ScanType type;
    type.number =
        format.is_signed ? ScanType::Number::signed_integer : ScanType::Number::unsigned_integer;
    type.big_endian = format.is_be;
    type.bits = format.bits;
    type.storage_bits = format.length;
    type.shift = format.shift;
    type.repeat = std::max(format.repeat, 1U);
    return type;
}

DeviceNode::Channel channel_node(const Libiio& libiio, const iio_channel* channel)
{
    DeviceNode::Channel node;
    node.id = or_empty(libiio.channel_get_id(channel));
    node.name = or_empty(libiio.channel_get_name(channel));
    node.output = libiio.channel_is_output(channel);
    node.scan_element = libiio.channel_is_scan_element(channel);
    if (node.scan_element) {
        node.scan_index = libiio.channel_get_index(channel);
        node.type = scan_type_of(libiio.channel_get_data_format(channel));
    }
    for (unsigned i = 0; i < libiio.channel_get_attrs_count(channel); ++i) {
        const char* name = libiio.channel_get_attr(channel, i);
        node.attributes.push_back(
            {name, or_empty(libiio.channel_attr_get_filename(channel, name))});
    }
    return node;
}

DeviceNode device_node(const Libiio& libiio, const iio_device* device)
{
    DeviceNode node;
    node.id = or_empty(libiio.device_get_id(device));
    node.name = or_empty(libiio.device_get_name(device));
    if (libiio.device_get_label != nullptr)
        node.label = or_empty(libiio.device_get_label(device));
    for (unsigned i = 0; i < libiio.device_get_attrs_count(device); ++i) {
        const std::string name = libiio.device_get_attr(device, i);
        node.attributes.push_back({name, name});
    }
    for (unsigned i = 0; i < libiio.device_get_channels_count(device); ++i)
        node.channels.push_back(channel_node(libiio, libiio.device_get_channel(device, i)));
    return node;
}

// What to try if a context cannot be opened.
std::string way_to_context(const std::string& uri)
{
    constexpr const char* kScan = "iio-stream info --scan lists the boards that answer";
    if (uri.find(':') == uri.npos)
        return "over the network: ip:" + uri;
    if (uri == "ip:")
        return "ip: without an address needs avahi-daemon; ip:ADDRESS does not";
    if (uri.starts_with("usb:"))
        return std::string("is the board on, and does lsusb list it? ") + kScan;
    if (!uri.starts_with("ip:"))
        return uri.starts_with("xml:") ? "" : "over the network: ip:ADDRESS; on USB: usb:";
    std::string host = uri.substr(3), port = "30431";
    if (const std::size_t colon = host.find(':'); colon != host.npos && colon == host.rfind(':')) {
        port = host.substr(colon + 1);
        host.resize(colon);
    }
    return "is the board on, as ping " + host + " shows, and does iiod run on it, at port " + port +
           "? " + kScan;
}

} // namespace

LibiioContext::LibiioContext(const std::string& uri) : libiio_(Libiio::get())
{
    const SilentXml silent(libiio_);
    const sys::CapturedStderr captured;
    errno = 0;
    const std::string scratch = uri.c_str(); // a copy: libiio 0.24 cuts off the port in place
    context_ = libiio_.create_context_from_uri(scratch.c_str());
    if (context_ == nullptr)
        throw Error(Fault::device, errno == 0 ? ENODEV : errno, "open the IIO context", uri, {},
                    way_to_context(uri));
    for (unsigned i = 0; i < libiio_.context_get_devices_count(context_); ++i)
        devices_.push_back(device_node(libiio_, libiio_.context_get_device(context_, i)));
}

LibiioContext::~LibiioContext()
{
    libiio_.context_destroy(context_);
}

// Nodes are in the order of libiio's devices and channels.
iio_device* LibiioContext::raw(const DeviceNode& device) const
{
    return libiio_.context_get_device(context_, static_cast<unsigned>(&device - devices_.data()));
}

iio_channel* LibiioContext::raw(const DeviceNode& device, const DeviceNode::Channel& channel) const
{
    return libiio_.device_get_channel(raw(device),
                                      static_cast<unsigned>(&channel - device.channels.data()));
}

int LibiioContext::read(const DeviceNode& device, const DeviceNode::Channel* channel,
                        const DeviceNode::Attribute& attribute, std::string& value) const
{
    std::array<char, 4096> text;
    const char* name = attribute.name.c_str();
    const ssize_t got =
        channel == nullptr
            ? libiio_.device_attr_read(raw(device), name, text.data(), text.size())
            : libiio_.channel_attr_read(raw(device, *channel), name, text.data(), text.size());
    if (got < 0)
        return static_cast<int>(-got);
    value = text.data();
    return 0;
}

int LibiioContext::write(const DeviceNode& device, const DeviceNode::Channel* channel,
                         const DeviceNode::Attribute& attribute, const std::string& value) const
{
    const char* name = attribute.name.c_str();
    const ssize_t put =
        channel == nullptr ? libiio_.device_attr_write(raw(device), name, value.c_str())
                           : libiio_.channel_attr_write(raw(device, *channel), name, value.c_str());
    return put < 0 ? static_cast<int>(-put) : 0;
}

ContextPtr open_remote(const std::string& uri)
{
    return std::make_shared<LibiioContext>(uri);
}

std::optional<Missing> missing_libiio()
try {
    (void)Libiio::get();
    return std::nullopt;
} catch (const Error& error) {
    return Missing{error.detail(), error.hint()};
}

} // namespace iio_stream::iio
