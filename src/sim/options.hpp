// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/option.hpp"

namespace iio_stream::sim {

inline constexpr OptionTable kOptions{
    Option{"pattern", OptionType::choice, "ramp|lanes|stamp|tone|noise|radio", "",
           "radio, or ramp with rate=0",
           "Samples: a band with noise, a tone, a carrier and bursts (radio), or a test pattern"},
    Option{"format", OptionType::text, "FORMAT", "", "ci16_le",
           "Sample format, such as ci16_le, cf32_le or ri16_le"},
    Option{"channels", OptionType::text, "NAME,NAME…", "", "from the format",
           "Names of the channels, separated by commas"},
    Option{"rate", OptionType::rate, "RATE", "S/s", "1M",
           "Sample rate in samples per second; 0 = as fast as possible", OptionSide::both,
           "sample_rate"},
    Option{"frequency", OptionType::rate, "FREQUENCY", "Hz", "a tenth of the rate",
           "Frequency of the tone of pattern=radio and pattern=tone, which may be negative"},
    Option{"seed", OptionType::number, "N", "", "1",
           "Seed of the noise of pattern=radio and pattern=noise"},
    Option{"drop_at", OptionType::size, "N", "samples", "never",
           "Lose samples at this place in the stream"},
    Option{"drop", OptionType::size, "N", "samples", "1000", "How many samples drop_at= loses"},
    Option{"stall_at", OptionType::size, "N", "samples", "never",
           "Stop delivering for a while at this place in the stream"},
    Option{"stall_for", OptionType::time, "TIME", "s", "100ms", "How long stall_at= lasts"},
    Option{"unplug_at", OptionType::size, "N", "samples", "never",
           "Fail with ENODEV at this place in the stream"},
    Option{"silent", OptionType::on_off, "", "", "off",
           "Do not report losses, so that the summary is wrong: for testing other loss detectors"},
};

} // namespace iio_stream::sim
