// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/api.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace iio_stream {

// Dates and times in nanoseconds since 1970 UTC, without leap seconds, as in blocks and archives.
// The functions are pure and can be called on any thread.

/// Parses a date, or a date and a time: "2026-11-26", "2026-11-26T23:00", "2026-11-26T23:00:00.5Z".
/// Throws a usage Error for any other text and for years before 1678 or after 2261. The Error
/// states `name`, the option that the value belongs to.
IIO_STREAM_API std::int64_t parse_utc(std::string_view name, std::string_view text);

/// Formats a time as "2026-11-26T23:00:00.5Z", with enough decimals for parse_utc() to restore the
/// exact value.
IIO_STREAM_API std::string format_utc(std::int64_t ns);

} // namespace iio_stream
