// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace iio_stream::detail {

/// What parse_utc() reads; nullopt for anything else.
std::optional<std::int64_t> utc_of(std::string_view text) noexcept;

} // namespace iio_stream::detail
