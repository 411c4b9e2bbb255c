// SPDX-License-Identifier: MIT
#include "serve/device_uri.hpp"

#include <numeric>

namespace iio_stream::serve {

std::string joined(const std::vector<std::string>& names)
{
    return std::accumulate(names.begin(), names.end(), std::string(),
                           [](std::string all, const std::string& name) {
                               return std::move(all) + (all.empty() ? "" : ",") + name;
                           });
}

Uri uri_of(const std::string& id, const std::vector<std::string>& channels)
{
    Uri uri = Uri::named("iio");
    uri.rest = id;
    uri.options.set("channels", joined(channels));
    uri.options.set("iq", "off");
    return uri;
}

} // namespace iio_stream::serve
