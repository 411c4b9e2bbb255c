// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/api.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace iio_stream {

// Times of day, in nanoseconds since 1970, UTC without leap seconds, as in blocks and archives. The
// functions are pure: call them on any thread.

/// A date, or a date and a time: "2026-11-26", "2026-11-26T23:00", "2026-11-26T23:00:00.5Z". Throws
/// a usage Error that names `name`, the option it belongs to, for anything else, and for years
/// before 1678 and after 2261.
IIO_STREAM_API std::int64_t parse_utc(std::string_view name, std::string_view text);

/// "2026-11-26T23:00:00.5Z": as many decimals as it takes, for parse_utc() to read back.
IIO_STREAM_API std::string format_utc(std::int64_t ns);

} // namespace iio_stream
