// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/option.hpp"

namespace iio_stream::detail {

/// Options that the session takes before the endpoint gets the others.
inline constexpr OptionTable kCommon{
    Option{"memory", OptionType::text, "auto|heap:NAME|udmabuf|pages|kernel", "", "auto",
           "Where blocks are allocated: a dma-heap, udmabuf, or plain pages", OptionSide::source},
    Option{"channels", OptionType::text, "NAME,NAME…", "", "all",
           "Channels to take from each sample: names separated by commas", OptionSide::source},
    Option{"convert", OptionType::text, "FORMAT", "", "no conversion",
           "Convert the samples to this format, such as cf32_le; on a source, for all its sinks"},
    Option{"on-full", OptionType::choice, "block|drop", "", "block; drop for zmq:",
           "What to do with a block the sink has no room for: make the source wait, or drop it",
           OptionSide::sink},
    Option{"hold", OptionType::number, "N", "blocks",
           "no limit; half of the blocks with on-full=drop", "Blocks the sink may hold at once",
           OptionSide::sink},
};

/// The sample format of a source whose samples do not describe themselves.
constexpr Option format_option(std::string_view standard)
{
    return {"format",          OptionType::text,
            "FORMAT",          "",
            standard,          "Sample format, such as ci16_le, cf32_le or ri16_le",
            OptionSide::source};
}
inline constexpr OptionTable kStatedFormat{
    format_option("must be given"),
    Option{"channel_names", OptionType::text, "NAME,NAME…|N", "", "as the format says",
           "Names of all channels of a sample, separated by commas, or their number",
           OptionSide::source},
    Option{"rate", OptionType::rate, "RATE", "S/s", "unknown", "Sample rate in samples per second",
           OptionSide::source, "sample_rate"},
};

/// The settings of a radio, local or remote.
inline constexpr OptionTable kTuning{
    Option{"frequency", OptionType::rate, "FREQUENCY", "Hz", "unchanged",
           "Frequency to tune the radio to"},
    Option{"bandwidth", OptionType::rate, "BANDWIDTH|auto", "Hz", "unchanged",
           "Bandwidth of the analog filter; auto = 0.58 (receive) or 0.67 (transmit) of the rate"},
    Option{"antenna", OptionType::text, "PORT", "", "unchanged",
           "Antenna port, as named by the driver"},
    Option{"agc", OptionType::text, "MODE", "", "unchanged",
           "Mode of the automatic gain control, such as slow_attack"},
    Option{"gain", OptionType::number, "GAIN", "dB", "unchanged",
           "Gain of the front end; switches automatic gain control off"},
    Option{"attr.", OptionType::text, "VALUE", "", "unchanged",
           "Any other attribute: attr.[DEVICE/][CHANNEL/]NAME=VALUE"},
};

} // namespace iio_stream::detail
