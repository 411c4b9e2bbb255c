// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace iio_stream::detail {

/// Parses a time that parse_utc() accepts. Returns nanoseconds UTC since 1970, or nullopt for
/// anything else.
std::optional<std::int64_t> utc_of(std::string_view text) noexcept;

/// Formats nanoseconds UTC since 1970 as "2026-01-01T00:00:00.000000Z", with `digits` (1 to 9)
/// fractional digits. Further digits are cut off.
std::string utc_text(std::int64_t ns, std::size_t digits);

} // namespace iio_stream::detail
