// SPDX-License-Identifier: MIT
#pragma once

#include "core/options/common_options.hpp"

namespace iio_stream::zmq {

inline constexpr OptionTable kSourceOptions{
    Option{"pattern", OptionType::choice, "sub|pull", "", "sub", "ZeroMQ socket type",
           OptionSide::source},
};

inline constexpr OptionTable kSinkOptions{
    Option{"pattern", OptionType::choice, "pub|push", "", "pub", "ZeroMQ socket type",
           OptionSide::sink},
    Option{"wait", OptionType::on_off, "", "", "on with bind=off, else off",
           "Wait for the first peer before the stream starts", OptionSide::sink},
};

inline constexpr OptionTable kLinkOptions{
    Option{"bind", OptionType::on_off, "", "", "on for a sink, off for a source",
           "Listen at the address instead of connecting to it"},
    Option{
        "index", OptionType::on_off, "", "", "off",
        "Send the sample index before each block, so that losses are known; set it at both ends"},
    Option{"hwm", OptionType::number, "N", "messages", "number of blocks; 16 for a source",
           "High-water mark: maximum number of messages in the queue of one peer"},
    Option{"curve_key", OptionType::text, "FILE", "", "no encryption",
           "CURVE key pair of this end: encrypts the link"},
    Option{"curve_server", OptionType::text, "FILE", "", "none",
           "Public key of the end that binds; for the end that connects"},
    Option{"curve_clients", OptionType::text, "any|FILE|FOLDER", "", "none",
           "Public keys to admit; for the end that binds"},
};

} // namespace iio_stream::zmq
