/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sink_impl.h"

#include <iio_stream/device.hpp>
#include <iio_stream/error.hpp>

namespace gr {
namespace iio_stream {

namespace ios = ::iio_stream;

namespace {

bool is_chosen(const std::string& channels, const std::string& id)
{
    return channels.empty() || ("," + channels + ",").find("," + id + ",") != std::string::npos;
}

// Returns the format of the device's selected output channels.
ios::Format device_format(const ios::Uri& address)
{
    ios::Format format;
    for (const ios::BufferInfo& buffer :
         ios::device(address.rest, address.options.get("uri", "local:")).buffers)
        if (buffer.output && format.channels.empty())
            for (const ios::Channel& channel : buffer.channels)
                if (is_chosen(address.options.get("channels", ""), channel.id))
                    format.channels.push_back(channel);
    if (format.channels.empty())
        ios::fail_usage(address.text() + " has no such output channels",
                        "iio-stream info lists them");
    format.lay_out();
    return format;
}

} // namespace

ios::Format sink_format(const sink_settings& settings, const port_type& type)
{
    if (settings.ports == 0)
        ios::fail_usage("ports=0: a sink has at least one port");
    require_item(settings.vlen, type.bytes);
    if (!(settings.sample_rate >= 0 && settings.sample_rate <= 1e12))
        ios::fail_usage("sample_rate=" + std::to_string(settings.sample_rate) +
                        ": samples per second, 0 for unknown");
    const ios::Uri address = ios::Uri::parse(settings.endpoint);
    const std::string channels = std::to_string(settings.ports * type.channels());
    ios::Format format = !settings.format.empty()  ? ios::Format::parse(settings.format, channels)
                         : address.scheme == "iio" ? device_format(address)
                                                   : ios::Format::parse(type.format, channels);
    format.sample_rate = settings.sample_rate;
    return format;
}

} // namespace iio_stream
} // namespace gr
