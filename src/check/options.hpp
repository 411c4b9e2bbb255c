// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/option.hpp"

namespace iio_stream::check {

inline constexpr OptionTable kNullOptions{
    Option{"rate", OptionType::rate, "RATE", "S/s", "no limit",
           "Take at most this many samples per second", OptionSide::sink, "sample_rate"},
    Option{"stall_at", OptionType::size, "N", "samples", "never",
           "Stop taking blocks for a while after this many samples", OptionSide::sink},
    Option{"stall_for", OptionType::time, "TIME", "s", "1s", "How long stall_at= lasts",
           OptionSide::sink},
};

inline constexpr OptionTable kVerifyOptions{
    Option{"first", OptionType::size, "N", "samples", "0",
           "Index of the first sample in the pattern", OptionSide::sink},
    Option{"first_exact", OptionType::on_off, "", "", "on",
           "Whether the stream starts exactly at first=, or at some later sample",
           OptionSide::sink},
    Option{"zeros", OptionType::text, "FIRST-END,…", "samples", "none",
           "Ranges that hold zeros instead of the pattern", OptionSide::sink},
};

} // namespace iio_stream::check
