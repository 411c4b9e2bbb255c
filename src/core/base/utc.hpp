// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace iio_stream::detail {

/// What parse_utc() reads; nullopt for anything else.
std::optional<std::int64_t> utc_of(std::string_view text) noexcept;

/// "2026-01-01T00:00:00.000000Z" of nanoseconds UTC since 1970, with `digits` (1 to 9) of the
/// fraction of a second; the rest is cut off.
std::string utc_text(std::int64_t ns, std::size_t digits);

} // namespace iio_stream::detail
