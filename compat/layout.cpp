// SPDX-License-Identifier: MIT
#include "layout.hpp"

#include "settings.hpp"

#include <algorithm>
#include <numeric>

namespace iio_stream::compat {

namespace {

// The limits of a block, as in the engine: each block has a fixed cost, and a larger block waits
// longer for its last sample.
constexpr double kMostSeconds = 0.010;
constexpr double kMostBytes = 4 * 1024 * 1024;

std::string scan_type(const iio_channel* channel)
{
    const iio_data_format& type = *iio_channel_get_data_format(channel);
    const char sign = type.is_signed          ? (type.is_fully_defined ? 'S' : 's')
                      : type.is_fully_defined ? 'U'
                                              : 'u';
    return std::string(type.is_be ? "be:" : "le:") + sign + std::to_string(type.bits) + "/" +
           std::to_string(type.length) +
           (type.repeat > 1 ? "X" + std::to_string(type.repeat) : "") + ">>" +
           std::to_string(type.shift);
}

void add(std::string& list, const std::string& item)
{
    list += (list.empty() ? "" : ",") + item;
}

double sample_rate(const Layout& layout)
{
    double rate = 0;
    if (iio_device_attr_read_double(layout.device, "sampling_frequency", &rate) == 0)
        return rate;
    if (iio_channel_attr_read_double(layout.channels[0], "sampling_frequency", &rate) == 0)
        return rate;
    return 0;
}

} // namespace

Layout::Layout(const iio_device* dev) : device(dev)
{
    for (unsigned i = 0; i < iio_device_get_channels_count(device); ++i) {
        const iio_channel* channel = iio_device_get_channel(device, i);
        if (iio_channel_is_scan_element(channel) && iio_channel_is_enabled(channel))
            channels.push_back(channel);
    }
    std::sort(channels.begin(), channels.end(), [](const iio_channel* a, const iio_channel* b) {
        return iio_channel_get_index(a) < iio_channel_get_index(b);
    });
    std::string types;
    for (const iio_channel* channel : channels) {
        add(types, scan_type(channel));
        add(ids, iio_channel_get_id(channel));
        output = output || iio_channel_is_output(channel);
    }
    if (!channels.empty())
        format = Format::parse(types, ids);
}

std::ptrdiff_t Layout::offset_of(const iio_channel* channel) const noexcept
{
    const auto at = std::find(channels.begin(), channels.end(), channel);
    return at == channels.end()
               ? -1
               : static_cast<std::ptrdiff_t>(format.channels[at - channels.begin()].offset);
}

Uri Layout::endpoint() const
{
    Uri uri = Uri::named("iio");
    uri.rest = iio_device_get_id(device);
    uri.options.set("channels", ids);
    uri.options.set("iq", "off");
    if (!Settings::get().path.empty())
        uri.options.set("path", Settings::get().path);
    return uri;
}

std::size_t Layout::whole_bytes(std::size_t buffer_bytes) const
{
    long long align = 0;
    if (iio_device_buffer_attr_read_longlong(device, "length_align_bytes", &align) < 0 || align < 1)
        align = 1;
    return std::lcm(buffer_bytes, static_cast<std::size_t>(align));
}

std::size_t Layout::gathered_bytes(std::size_t buffer_bytes) const
{
    const std::size_t unit = whole_bytes(buffer_bytes);
    const double most = std::min(kMostBytes, sample_rate(*this) * kMostSeconds *
                                                 static_cast<double>(format.sample_bytes));
    return unit * std::max<std::size_t>(1, static_cast<std::size_t>(most) / unit);
}

} // namespace iio_stream::compat
