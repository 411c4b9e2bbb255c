// SPDX-License-Identifier: MIT
#include "iio/attribute_path.hpp"

#include "core/text.hpp"
#include "iio_stream/error.hpp"

#include <algorithm>

namespace iio_stream::iio {

AttributePath AttributePath::parse(const std::string& path, const ContextPtr& context)
{
    const auto parts = detail::split(path, '/');
    AttributePath found;
    if (parts.empty() || parts.size() > 3)
        fail_usage("'" + path + "' is not an attribute", "[DEVICE/][CHANNEL/]NAME");
    found.name = parts.back();
    if (parts.size() == 3) {
        found.device = parts[0];
        found.channel = parts[1];
    } else if (parts.size() == 2) {
        // One part before the name: a device if one is called that, otherwise a channel.
        const auto all = devices(context);
        const bool device = std::any_of(all.begin(), all.end(), [&](const Device& d) {
            return d.name() == parts[0] || d.label() == parts[0] || d.id() == parts[0];
        });
        (device ? found.device : found.channel) = parts[0];
    }
    return found;
}

} // namespace iio_stream::iio
