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

// The words of URIs and of the command line. Each parser takes `name`, the option that the value
// is for, and throws a usage Error that names both and tells what would be accepted.

/// Bytes or samples: a number with k M G T (1000) or Ki Mi Gi Ti (1024); "1.5Mi" is fine.
IIO_STREAM_API std::uint64_t parse_size(std::string_view name, std::string_view text);

/// The same for what lies in memory or counts what does: no more than this machine can address.
IIO_STREAM_API std::size_t parse_memory_size(std::string_view name, std::string_view text);

/// Hz or samples per second: a number with k M G; "2.4G", "30.72M", "1e6".
IIO_STREAM_API double parse_rate(std::string_view name, std::string_view text);

/// A time: a number with ns us ms s min h; a bare number is seconds.
IIO_STREAM_API std::chrono::nanoseconds parse_duration(std::string_view name, std::string_view text);

/// on or off (also true false yes no 1 0).
IIO_STREAM_API bool parse_switch(std::string_view name, std::string_view text);

/// A decimal number, possibly negative or with a fraction.
IIO_STREAM_API double parse_number(std::string_view name, std::string_view text);

/// "1d6b:0104", a USB vendor and product in hexadecimal; nullopt for anything else.
struct UsbId {
    std::uint16_t vendor = 0, product = 0;
    bool operator==(const UsbId&) const = default;
};
IIO_STREAM_API std::optional<UsbId> parse_usb_id(std::string_view text);

/// The entry of `known` nearest to `text` in edits; "" where none is near.
IIO_STREAM_API std::string nearest(std::string_view text, const std::vector<std::string>& known);

/// "did you mean 'X'?" or, where none is near, "known: A, B, C".
IIO_STREAM_API std::string suggest(std::string_view text, const std::vector<std::string>& known);

/// 4194304 → "4Mi"; 1000 → "1000".
IIO_STREAM_API std::string format_size(std::uint64_t bytes);

} // namespace iio_stream
