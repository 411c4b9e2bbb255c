// SPDX-License-Identifier: MIT
#pragma once

#include "core/options/common_options.hpp"
#include "iio/iq_pairs.hpp"
#include "iio_stream/uri.hpp"

#include <string>

namespace iio_stream::iio {

inline constexpr OptionTable kDeviceOptions{
    Option{"channels", OptionType::text, "NAME,NAME…", "", "all but a timestamp",
           "Channels to stream, separated by commas; a timestamp only if it is named"},
    Option{"iq", OptionType::choice, "auto|on|off", "", "auto",
           "Take channels in pairs as I and Q; auto decides by their names"},
    Option{"buffer", OptionType::number, "N", "", "0", "Which buffer, if the device has several"},
    Option{"uri", OptionType::text, "URI", "",
           "local:", "libiio context with the device, such as ip:192.168.2.1"},
    Option{"phy", OptionType::text, "auto|DEVICE", "", "auto",
           "Device with the radio's settings (the transceiver)"},
};

/// Options of devices on this machine.
inline constexpr OptionTable kLocalOptions{
    Option{"path", OptionType::choice, "auto|dmabuf|mmap|fileio", "", "auto",
           "How blocks reach the device: as DMABUFs, by mapping the kernel's own, or by read() and "
           "write()"},
    Option{"cyclic", OptionType::choice, "on|off|hardware|software", "", "off",
           "Repeat the samples until --duration is over or the stream is stopped",
           OptionSide::sink},
};

inline constexpr OptionTable kSourceOptions{
    Option{"counter", OptionType::text, "none|channel:NAME|header:BYTES/EVERY", "", "none",
           "Counter in the data; with n bits, it shows all losses except multiples of 2^n samples",
           OptionSide::source},
};

inline constexpr OptionTable kSinkOptions{
    Option{"powerdown", OptionType::choice, "restore|off|keep", "", "restore",
           "Powerdown of the transmitter's oscillator: its state at the start is restored at the "
           "end; off = it is powered up and stays powered up; keep = it is never touched",
           OptionSide::sink},
};

/// Options of the front end, in addition to detail::kTuning.
inline constexpr OptionTable kFrontEndOptions{
    Option{"rate", OptionType::rate, "RATE|auto", "S/s", "unchanged",
           "Sample rate in samples per second; auto (a sink) = the rate of the samples",
           OptionSide::both, "sample_rate"},
};

/// The libiio context of this machine.
inline constexpr std::string_view kLocal = "local:";

enum class Path { automatic, dmabuf, mmap, fileio };

/// The device, the buffer, and how to use them; common to source and sink.
struct BufferSettings {
    std::string name, uri;
    std::string channels; ///< comma-separated ids; empty = all
    Iq iq = Iq::automatic;
    Path path = Path::automatic;
    int buffer = 0;

    /// Takes the options of the device and the buffer. Throws a usage Error if the address has an
    /// option that its device does not have. A remote device does not have kLocalOptions.
    static BufferSettings from(Uri& address, OptionSide side);
};

} // namespace iio_stream::iio
