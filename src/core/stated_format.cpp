// SPDX-License-Identifier: MIT
#include "core/stated_format.hpp"

#include "iio_stream/error.hpp"
#include "iio_stream/units.hpp"

namespace iio_stream::detail {

Format stated_format(Options& options, const std::string& usual, const std::string& lacking,
                     const std::string& hint)
{
    const std::string name = options.take("format", usual);
    if (name.empty())
        fail_usage(lacking, hint);
    Format format = Format::parse(name, options.take("channels", ""));
    if (const auto rate = options.take("rate"))
        format.sample_rate = parse_rate("rate", *rate);
    return format;
}

} // namespace iio_stream::detail
