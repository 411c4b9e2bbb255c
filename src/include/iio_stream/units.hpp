// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/api.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace iio_stream {

// Values in URIs and on the command line. Each parser takes `name`, the option the value belongs
// to, and throws a usage Error that names both and says what would be accepted:
//
//     parse_size("block-size", "1.5Mi");   // 1572864
//     parse_rate("rate", "30.72M");        // 30.72e6, in Hz or samples per second
//     parse_duration("timeout", "250ms");  // 250'000'000 ns
//     parse_size("blocks", "many");        // Error: blocks: 'many' …
//
// Numbers use a point, whatever the locale. All functions here are pure: call them on any thread.

/// Bytes or samples, a whole number: with k M G T (1000) or Ki Mi Gi Ti (1024); "1.5Mi" is fine.
IIO_STREAM_API std::uint64_t parse_size(std::string_view name, std::string_view text);

/// The same for sizes in memory and numbers of objects in it: also throws for more than this
/// machine can address.
IIO_STREAM_API std::size_t parse_memory_size(std::string_view name, std::string_view text);

/// Hertz or samples per second: a number with k M G (1000), and with Hz, S/s or sps after it;
/// "2.4G", "30.72MS/s", "1e6".
IIO_STREAM_API double parse_rate(std::string_view name, std::string_view text);

/// A duration: a number with ns us ms s min h d (24 h); a bare number is in seconds.
IIO_STREAM_API std::chrono::nanoseconds parse_duration(std::string_view name,
                                                       std::string_view text);

/// "on" or "off"; also accepts true false, yes no, 1 0.
IIO_STREAM_API bool parse_switch(std::string_view name, std::string_view text);

/// A decimal number, which may be negative and have a fraction.
IIO_STREAM_API double parse_number(std::string_view name, std::string_view text);

/// A USB device's vendor and product number.
struct UsbId {
    std::uint16_t vendor = 0, product = 0;
    bool operator==(const UsbId&) const = default;
};
/// From "1d6b:0104", both in hexadecimal; nullopt for anything else.
IIO_STREAM_API std::optional<UsbId> parse_usb_id(std::string_view text);

/// The entry of `known` that alone begins with `text`, or the closest one by the number of edits;
/// "" if none is close.
IIO_STREAM_API std::string nearest(std::string_view text, const std::vector<std::string>& known);

/// The hint of an Error about an unknown name: "did you mean 'X'?" or, if none is close, "known: A,
/// B, C".
IIO_STREAM_API std::string suggest(std::string_view text, const std::vector<std::string>& known);

/// The shortest exact form that parse_size() reads back: 4194304 → "4Mi"; 1000 → "1000".
IIO_STREAM_API std::string format_size(std::uint64_t bytes);

/// A number that is known by its bounds: "3", "3 to 5", or "3 to ?" where `most` is kUnknown (a
/// Gap's lost_max).
IIO_STREAM_API std::string format_bounds(std::uint64_t least, std::uint64_t most);

} // namespace iio_stream
