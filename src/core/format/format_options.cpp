// SPDX-License-Identifier: MIT
#include "core/format/format_options.hpp"

#include "core/base/text.hpp"
#include "core/options/common_options.hpp"
#include "iio_stream/error.hpp"
#include "iio_stream/units.hpp"

#include <algorithm>

namespace iio_stream::detail {

namespace {

bool have_same_types(const Format& a, const Format& b)
{
    return std::ranges::equal(a.channels, b.channels, {}, &Channel::type, &Channel::type);
}

} // namespace

Format format_from_options(Options& options, const std::string& usual, const std::string& channels,
                           const std::string& lacking, const std::string& hint)
{
    const std::string name = options.take(kStatedFormat["format"]).value_or(usual);
    if (name.empty())
        fail_usage(lacking, hint);
    Format format =
        Format::parse(name, options.take(kStatedFormat["channel_names"]).value_or(channels));
    if (const auto rate = options.take_rate(kStatedFormat["rate"]))
        format.sample_rate = *rate;
    return format;
}

Format chosen_channels(const Format& format, const std::string& names)
{
    std::vector<std::string> there;
    std::string list;
    for (const Channel& channel : format.channels) {
        there.push_back(channel.id);
        add_item(list, channel.id);
    }
    std::vector<std::string> wanted = split(names);
    if (wanted.empty())
        fail_usage("channels= names no channel", "there are " + list);
    for (const std::string& name : wanted) {
        if (std::count(wanted.begin(), wanted.end(), name) > 1)
            fail_usage("channels=" + names + ": '" + name + "' is named twice");
        if (std::find(there.begin(), there.end(), name) != there.end())
            continue;
        const std::string close = nearest(name, there);
        std::string hint = "there are " + list;
        if (name.find_first_not_of("0123456789") == std::string::npos)
            hint += "; channel_names=" + name + " sets the number of channels of raw samples";
        fail_usage("channels=" + names + ": the samples have no channel '" + name + "'",
                   close.empty() ? hint : "did you mean '" + close + "'? " + hint);
    }
    const auto is_wanted = [&](const Channel& channel) {
        return std::find(wanted.begin(), wanted.end(), channel.id) != wanted.end();
    };
    Format chosen = format;
    // Half of an I/Q pair is a real signal. Halves of two pairs must not form a false pair.
    for (std::size_t i = 0; i + 1 < chosen.channels.size(); ++i) {
        Channel& first = chosen.channels[i];
        Channel& second = chosen.channels[i + 1];
        const bool is_pair =
            first.component == Component::in_phase && second.component == Component::quadrature;
        if (is_pair && is_wanted(first) != is_wanted(second))
            first.component = second.component = Component::real;
    }
    std::erase_if(chosen.channels, [&](const Channel& channel) { return !is_wanted(channel); });
    return chosen;
}

Conversion conversion_to_device(const Format& stream, const Format& device, const std::string& name)
{
    if (stream.channels.size() != device.channels.size() || have_same_types(stream, device))
        return {};
    return {device.name(), name + " plays " + device.name()};
}

void require_same_layout(const Format& stream, const Format& device, const std::string& name)
{
    if (have_same_types(stream, device))
        return;
    const bool as_many = stream.channels.size() == device.channels.size();
    fail_usage("the stream's samples (" + std::to_string(stream.channels.size()) + " channels of " +
                   stream.name() + ") are not laid out like " + name + "'s (" +
                   std::to_string(device.channels.size()) + " of " + device.name() + ")",
               as_many ? "convert=" + device.name() + " after the source converts them"
                       : "channels= chooses channels, convert= the format");
}

} // namespace iio_stream::detail
