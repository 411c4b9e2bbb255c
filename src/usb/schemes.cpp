// SPDX-License-Identifier: MIT
#include "iio_stream/units.hpp"
#include "usb/ffs_sink.hpp"
#include "usb/ffs_source.hpp"
#include "usb/sink.hpp"
#include "usb/source.hpp"
#include "usb/usb.hpp"

namespace iio_stream::usb {

namespace {

std::unique_ptr<Source> make_ffs_source(Uri& uri)
{
    FfsSettings settings = FfsSettings::from(uri, Direction::to_board);
    const auto name = uri.options.take("format");
    if (!name)
        fail_usage("ffs:" + settings.mount + ": what the host sends is for this command to say",
                   "format=ci16_le says it; rate= goes with it");
    Format format = Format::parse(*name, uri.options.take("channels", ""));
    if (const auto rate = uri.options.take("rate"))
        format.sample_rate = parse_rate("rate", *rate);
    return std::make_unique<FfsSource>(std::move(settings), std::move(format));
}

std::unique_ptr<Sink> make_ffs_sink(Uri& uri)
{
    return std::make_unique<FfsSink>(FfsSettings::from(uri, Direction::to_host));
}

struct HostSettings {
    BoardChoice choice;
    std::size_t transfers = 0; ///< 0: as many as usbfs holds
};

HostSettings host_settings(Uri& uri)
{
    HostSettings s;
    if (!uri.rest.empty()) {
        s.choice.id = parse_usb_id(uri.rest);
        if (!s.choice.id)
            fail_usage("usb:" + uri.rest + " names no board", "usb: or usb:1d6b:0104; serial= chooses");
    }
    s.choice.serial = uri.options.take("serial", "");
    if (const auto wait = uri.options.take("wait"))
        s.choice.wait_ns = parse_duration("wait", *wait).count();
    if (const auto text = uri.options.take("transfers")) {
        s.transfers = parse_memory_size("transfers", *text);
        if (s.transfers < 1 || s.transfers > 1024)
            fail_usage("transfers=" + *text + ": 1 to 1024 are possible");
    }
    return s;
}

std::unique_ptr<Source> make_usb_source(Uri& uri)
{
    const HostSettings s = host_settings(uri);
    std::vector<std::pair<std::string, std::string>> changes;
    for (const auto& [path, value] : uri.options.take_prefixed("attr."))
        changes.emplace_back("attr." + path, value);
    for (const char* name : {"frequency", "gain", "bandwidth", "antenna"})
        if (const auto value = uri.options.take(name))
            changes.emplace_back(name, *value);
    return std::make_unique<UsbSource>(s.choice, s.transfers, changes);
}

std::unique_ptr<Sink> make_usb_sink(Uri& uri)
{
    const HostSettings s = host_settings(uri);
    return std::make_unique<UsbSink>(s.choice, s.transfers);
}

} // namespace

Scheme usb_scheme()
{
    return {"usb", &make_usb_source, &make_usb_sink};
}

Scheme ffs_scheme()
{
    return {"ffs", &make_ffs_source, &make_ffs_sink};
}

} // namespace iio_stream::usb
