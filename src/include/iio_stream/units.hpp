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

// Parsers for values in URIs and on the command line. `name` is the option that the value belongs
// to. If a value is not valid, the parser throws a usage Error that states the option, the value
// and the accepted values:
//
//     parse_size("block-size", "1.5Mi");   // 1572864
//     parse_rate("rate", "30.72M");        // 30.72e6, in Hz or samples per second
//     parse_duration("timeout", "250ms");  // 250'000'000 ns
//     parse_size("blocks", "many");        // Error: blocks: 'many' …
//
// The decimal separator is a point in every locale. All functions here are pure and can be called
// on any thread.

/// Parses a whole number of bytes or samples, with an optional suffix k M G T (powers of 1000) or
/// Ki Mi Gi Ti (powers of 1024). A fraction is accepted if the result is a whole number: "1.5Mi".
IIO_STREAM_API std::uint64_t parse_size(std::string_view name, std::string_view text);

/// The same for sizes in memory and numbers of objects in memory. It also throws if this machine
/// cannot address that much memory.
IIO_STREAM_API std::size_t parse_memory_size(std::string_view name, std::string_view text);

/// Parses a frequency in hertz or a rate in samples per second: a number with an optional suffix k
/// M G (powers of 1000), followed by an optional unit Hz, S/s or sps: "2.4G", "30.72MS/s", "1e6".
IIO_STREAM_API double parse_rate(std::string_view name, std::string_view text);

/// Parses a duration: a number with the unit ns us ms s min h d (24 h). A number without a unit is
/// in seconds.
IIO_STREAM_API std::chrono::nanoseconds parse_duration(std::string_view name,
                                                       std::string_view text);

/// Parses "on" or "off"; also accepts true false, yes no, 1 0.
IIO_STREAM_API bool parse_switch(std::string_view name, std::string_view text);

/// Parses a decimal number, which can be negative and can have a fraction.
IIO_STREAM_API double parse_number(std::string_view name, std::string_view text);

/// A USB device's vendor and product IDs.
struct UsbId {
    std::uint16_t vendor = 0, product = 0;
    bool operator==(const UsbId&) const = default;
};
/// Parses "1d6b:0104", with both numbers in hexadecimal. Returns nullopt for any other text.
IIO_STREAM_API std::optional<UsbId> parse_usb_id(std::string_view text);

/// Returns the shortest entry of `known` that begins with `text` (3 characters or more), unless two
/// are equally short; otherwise the entry with the smallest edit distance; "" if no entry is close.
IIO_STREAM_API std::string nearest(std::string_view text, const std::vector<std::string>& known);

/// Returns the hint of an Error about an unknown name: "did you mean 'X'?" or, if no name is close,
/// "known: A, B, C".
IIO_STREAM_API std::string suggest(std::string_view text, const std::vector<std::string>& known);

/// Returns the shortest exact form that parse_size() can parse: 4194304 → "4Mi"; 1000 → "1000".
IIO_STREAM_API std::string format_size(std::uint64_t bytes);

/// Formats the bounds of a number: "3", "3 to 5", or "3 to ?" if `most` is kUnknown (as in a Gap's
/// lost_max).
IIO_STREAM_API std::string format_bounds(std::uint64_t least, std::uint64_t most);

} // namespace iio_stream
