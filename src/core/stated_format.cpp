// SPDX-License-Identifier: MIT
#include "core/stated_format.hpp"

#include "core/common_options.hpp"
#include "iio_stream/error.hpp"
#include "iio_stream/units.hpp"

namespace iio_stream::detail {

Format stated_format(Options& options, const std::string& usual, const std::string& lacking,
                     const std::string& hint)
{
    const std::string name = options.take(kStatedFormat["format"]).value_or(usual);
    if (name.empty())
        fail_usage(lacking, hint);
    Format format = Format::parse(name, options.take(kStatedFormat["channels"]).value_or(""));
    if (const auto rate = options.take(kStatedFormat["rate"]))
        format.sample_rate = parse_rate("rate", *rate);
    return format;
}

} // namespace iio_stream::detail
