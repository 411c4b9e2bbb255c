// SPDX-License-Identifier: MIT
#include "iio/context/remote_channels.hpp"

#include "core/base/text.hpp"
#include "iio_stream/error.hpp"
#include "iio_stream/units.hpp"

#include <algorithm>
#include <cerrno>
#include <iterator>

namespace iio_stream::iio {

Format choose_channels(const Device& device, const std::string& names, Iq iq, bool output)
{
    Format format;
    std::vector<std::string> remarks;
    const std::vector<Channel> elements = device.scan_elements(output, remarks);
    std::vector<std::string> known;
    for (const Channel& element : elements)
        known.push_back(element.id);
    if (names.empty() && !remarks.empty())
        throw Error(Fault::device, EPROTO, "stream", device.name(), remarks[0],
                    "channels= selects those that can be parsed");
    std::vector<std::string> wanted = detail::split(names);
    for (const std::string& name : wanted)
        if (std::find(known.begin(), known.end(), name) == known.end())
            fail_usage(device.name() + " has no channel '" + name + "'",
                       remarks.empty() ? suggest(name, known) : remarks[0]);
    if (names.empty()) // as for a local device: all except the CPU's timestamp
        std::copy_if(known.begin(), known.end(), std::back_inserter(wanted),
                     [](const std::string& name) { return name != "timestamp"; });
    for (const Channel& element : elements)
        if (std::find(wanted.begin(), wanted.end(), element.id) != wanted.end())
            format.channels.push_back(element);
    if (format.channels.empty())
        fail_usage(device.name() + " has no " + (output ? "output" : "input") +
                   " channels to stream");
    pair_up(device.name(), format.channels, iq);
    format.lay_out();
    return format;
}

} // namespace iio_stream::iio
