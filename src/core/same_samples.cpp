// SPDX-License-Identifier: MIT
#include "core/same_samples.hpp"

#include "iio_stream/error.hpp"

namespace iio_stream::detail {

void check_same_samples(const Format& stream, const Format& device, const std::string& name)
{
    bool same = stream.channels.size() == device.channels.size();
    for (std::size_t i = 0; same && i < stream.channels.size(); ++i)
        same = stream.channels[i].type == device.channels[i].type;
    if (same)
        return;
    const bool as_many = stream.channels.size() == device.channels.size();
    fail_usage("the stream's samples (" + std::to_string(stream.channels.size()) + " channels of " +
                   stream.name() + ") are not " + name + "'s (" +
                   std::to_string(device.channels.size()) + " of " + device.name() + ")",
               as_many ? "convert=" + device.name() + " after the source converts them"
                       : "channels= chooses channels, convert= the format");
}

} // namespace iio_stream::detail
