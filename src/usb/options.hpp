// SPDX-License-Identifier: MIT
#pragma once

#include "core/options/common_options.hpp"

namespace iio_stream::usb {

/// Options on the board.
inline constexpr OptionTable kFfsOptions{
    Option{"wait", OptionType::time, "TIME", "s", "no limit", "How long to wait for a host"},
};
inline constexpr OptionTable kFfsSourceOptions{
    Option{"path", OptionType::choice, "auto|dmabuf|read", "", "auto",
           "How blocks are filled: as DMABUFs, or by read()", OptionSide::source},
};
inline constexpr OptionTable kFfsSinkOptions{
    Option{"path", OptionType::choice, "auto|dmabuf|write", "", "auto",
           "How blocks are sent: as DMABUFs, or by write()", OptionSide::sink},
    Option{"allow", OptionType::text, "NAME,NAME…", "", "nothing",
           "Settings that the host may change: frequency, bandwidth, antenna, agc, gain, "
           "attr.DEVICE/[CHANNEL/]NAME",
           OptionSide::sink},
};

/// Options on the host.
inline constexpr OptionTable kHostOptions{
    Option{"serial", OptionType::text, "TEXT", "", "any", "Serial number of the board"},
    Option{"wait", OptionType::time, "TIME", "s", "0s", "How long to wait for a board to appear"},
    Option{"transfers", OptionType::number, "N", "blocks", "half of the usbfs memory",
           "Blocks in flight on the cable"},
    Option{"reconnect", OptionType::time, "TIME", "s", "0s",
           "How long to wait for a board that has gone away"},
};
inline constexpr OptionTable kHostSourceOptions{
    Option{"transfer_size", OptionType::size, "SIZE", "bytes", "a whole block",
           "Largest USB transfer, a multiple of 1 KiB", OptionSide::source},
};
/// An option by which the host sets an attribute of the board, if the board allows it.
constexpr Option host_sets(Option option)
{
    option.side = OptionSide::source;
    return option;
}
inline constexpr OptionTable kHostTuning{
    host_sets(detail::kTuning["attr."]),     host_sets(detail::kTuning["frequency"]),
    host_sets(detail::kTuning["bandwidth"]), host_sets(detail::kTuning["antenna"]),
    host_sets(detail::kTuning["agc"]),       host_sets(detail::kTuning["gain"]),
};

} // namespace iio_stream::usb
