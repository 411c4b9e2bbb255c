// SPDX-License-Identifier: MIT
#pragma once

#include "core/options/common_options.hpp"

namespace iio_stream::tcp {

inline constexpr OptionTable kOptions{
    Option{"bind", OptionType::on_off, "", "", "on for a sink, off for a source",
           "Listen at the address instead of connecting to it"},
    Option{"wait", OptionType::time, "TIME", "s",
           "no limit for a sink that listens, 60s for a source that does; else 0s",
           "How long to wait for the other end to appear"},
    Option{"reconnect", OptionType::time, "TIME", "s", "0s",
           "How long to wait for the other end once it has gone"},
};

} // namespace iio_stream::tcp
