/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ports.h"

#include <iio_stream/error.hpp>
#include <iio_stream/units.hpp>

#include <volk/volk.h>

#include <algorithm>
#include <array>
#include <bit>
#include <span>

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

// Returns the format of some channels within the samples of `whole`.
ios::Format part_of(const ios::Format& whole, const std::vector<ios::Channel>& channels)
{
    ios::Format part = whole;
    part.channels = channels;
    return part;
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
    : d_item_bytes(type.bytes), d_sample_bytes(stream.sample_bytes)
{
    std::vector<ios::Channel> left;
    for (const ios::Channel& channel : stream.channels)
        if (channel.component != ios::Component::counter)
            left.push_back(channel);
    const std::string what = "type " + std::string(type.name) + ": the " +
                             std::to_string(left.size()) + " channels of " + stream.name() +
                             " are not I/Q pairs";
    if (left.empty() || left.size() % type.channels() != 0)
        ios::fail_usage(what,
                        "f32 and s16 have a port for each channel; select channels with channels=");
    for (size_t first = 0; first < left.size(); first += type.channels()) {
        if (type.complex && !is_pair(left[first], left[first + 1]))
            ios::fail_usage(
                what,
                "f32 and s16 have a port for each channel; iq=on makes pairs of a device's "
                "channels");
        const auto begin = left.begin() + static_cast<std::ptrdiff_t>(first);
        const auto end = begin + static_cast<std::ptrdiff_t>(type.channels());
        std::string& names = d_channels.emplace_back(begin->id);
        for (auto next = begin + 1; next != end; ++next)
            names += "," + next->id;
        const ios::Format inside = part_of(stream, { begin, end });
        const ios::Format item = ios::Format::parse(type.format, std::to_string(type.channels()));
        if (way == direction::out_of_blocks)
            d_converters.emplace_back(inside, item);
        else
            d_converters.emplace_back(item, inside);
    }
    const bool floats = type.bytes == type.channels() * sizeof(float);
    d_plain = way == direction::out_of_blocks && floats && count() == 1 && is_plain(stream) &&
              left.size() == stream.channels.size();
}

void ports::take(size_t port, const std::byte* block, void* items, size_t samples) const
{
    // VOLK is optimized for the CPU: with AVX2, it needs a quarter of the library's instructions.
    if (d_plain)
        return volk_16i_s32f_convert_32f(static_cast<float*>(items),
                                         reinterpret_cast<const int16_t*>(block),
                                         32768.0F,
                                         static_cast<unsigned>(samples * d_sample_bytes / 2));
    d_converters[port].convert(std::span(block, samples * d_sample_bytes),
                               std::span(static_cast<std::byte*>(items), samples * d_item_bytes));
}

void ports::put(size_t port, const void* items, std::byte* block, size_t samples) const
{
    d_converters[port].convert(
        std::span(static_cast<const std::byte*>(items), samples * d_item_bytes),
        std::span(block, samples * d_sample_bytes));
}

} // namespace iio_stream
} // namespace gr
