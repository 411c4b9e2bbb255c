/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <gnuradio/iio_stream/endpoint.h>

#include <iio_stream/endpoint.hpp>

namespace gr {
namespace iio_stream {

std::string endpoint_of(const std::string& uri,
                        const std::string& device,
                        const std::vector<std::string>& channels)
{
    ::iio_stream::Uri made;
    made.scheme = "iio";
    made.rest = device;
    if (!uri.empty())
        made.options.set("uri", uri);
    std::string list;
    for (const std::string& channel : channels)
        list += (list.empty() ? "" : ",") + channel;
    if (!list.empty())
        made.options.set("channels", list);
    return made.text();
}

std::string with_options(const std::string& endpoint,
                         const std::map<std::string, std::string>& options)
{
    ::iio_stream::Uri made = ::iio_stream::Uri::parse(endpoint);
    for (const auto& [key, value] : options)
        made.options.set(key, value);
    return made.text();
}

} // namespace iio_stream
} // namespace gr
