/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ports.h"

#include <iio_stream/error.hpp>
#include <iio_stream/units.hpp>

#include <volk/volk.h>

#include <algorithm>
#include <array>
#include <bit>

namespace gr {
namespace iio_stream {

namespace ios = ::iio_stream;

static_assert(std::endian::native == std::endian::little,
              "the formats of the ports are little-endian");

namespace {

const std::array<port_type, 4> types{ { { "fc32", "cf32_le", true, 8 },
                                        { "sc16", "ci16_le", true, 4 },
                                        { "f32", "rf32_le", false, 4 },
                                        { "s16", "ri16_le", false, 2 } } };

// Returns the format of the channels that belong to ports, within the samples of the stream.
ios::Format without_counters(ios::Format format)
{
    std::erase_if(format.channels, [](const ios::Channel& channel) {
        return channel.component == ios::Component::counter;
    });
    return format;
}

// Returns whether two channels are an I/Q pair, or come from a list of scan types, which does not
// show which channels are pairs.
bool is_pair(const ios::Channel& i, const ios::Channel& q)
{
    const auto is_nameless = [](const ios::Channel& channel) {
        return channel.component == ios::Component::real && channel.id.starts_with("channel");
    };
    return (i.component == ios::Component::in_phase && q.component == ios::Component::quadrature) ||
           (is_nameless(i) && is_nameless(q));
}

bool is_plain(const ios::Format& format)
{
    const ios::ScanType s16; // little-endian, all 16 bits of 16
    return std::all_of(format.channels.begin(),
                       format.channels.end(),
                       [&](const ios::Channel& c) { return c.type == s16; }) &&
           format.sample_bytes == 2 * format.channels.size();
}

// Returns the names of each port's channels. Throws a usage Error if they cannot form ports.
std::vector<std::string> channels_of_ports(const ios::Format& stream, const port_type& type)
{
    const std::vector<ios::Channel> channels = without_counters(stream).channels;
    const std::string what = "type " + std::string(type.name) + ": the " +
                             std::to_string(channels.size()) + " channels of " + stream.name() +
                             " are not I/Q pairs";
    if (channels.empty() || channels.size() % type.channels() != 0)
        ios::fail_usage(what,
                        "f32 and s16 have a port for each channel; select channels with channels=");
    std::vector<std::string> ports;
    for (size_t first = 0; first < channels.size(); first += type.channels()) {
        if (type.complex && !is_pair(channels[first], channels[first + 1]))
            ios::fail_usage(
                what,
                "f32 and s16 have a port for each channel; iq=on makes pairs of a device's "
                "channels");
        std::string& names = ports.emplace_back(channels[first].id);
        for (size_t i = 1; i < type.channels(); ++i)
            names += "," + channels[first + i].id;
    }
    return ports;
}

ios::Converter
make_converter(const ios::Format& stream, const port_type& type, ports::direction way)
{
    const ios::Format inside = without_counters(stream);
    ios::Format items = ios::Format::parse(type.format, std::to_string(type.channels()));
    const ios::Channel value = items.channels[0];
    items.channels.resize(inside.channels.size(), value);
    items.lay_out();
    return way == ports::direction::out_of_blocks ? ios::Converter(inside, items)
                                                  : ios::Converter(items, inside);
}

} // namespace

const port_type& port_type::of(const std::string& name)
{
    std::vector<std::string> known;
    for (const port_type& type : types) {
        if (type.name == name)
            return type;
        known.push_back(type.name);
    }
    ios::fail_usage("type '" + name + "' is not valid", ios::suggest(name, known));
}

ports::ports(const ios::Format& stream, const port_type& type, direction way)
    : d_channels(channels_of_ports(stream, type)),
      d_converter(make_converter(stream, type, way)),
      d_sample_bytes(stream.sample_bytes),
      d_plain(way == direction::out_of_blocks &&
              type.bytes == type.channels() * sizeof(float) && count() == 1 &&
              is_plain(stream) && type.channels() == stream.channels.size())
{
}

void ports::take(const std::byte* block, std::span<std::byte* const> items, size_t samples) const
{
    // VOLK has kernels for more processors than the library, such as NEON on 32-bit ARM.
    if (d_plain)
        return volk_16i_s32f_convert_32f(reinterpret_cast<float*>(items[0]),
                                         reinterpret_cast<const int16_t*>(block),
                                         32768.0F,
                                         static_cast<unsigned>(samples * d_sample_bytes / 2));
    d_converter.deinterleave(std::span(block, samples * d_sample_bytes), items);
}

void ports::put(std::span<const std::byte* const> items, std::byte* block, size_t samples) const
{
    d_converter.interleave(items, std::span(block, samples * d_sample_bytes));
}

} // namespace iio_stream
} // namespace gr
