// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/stats.hpp"

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace iio_stream::cli {

using Json = nlohmann::ordered_json;

/// Of a recording or a capture.
inline Json gaps_json(const GapTotals& gaps)
{
    return {{"certain", gaps.certain},
            {"possible", gaps.possible},
            {"lost_min", gaps.lost_min},
            {"lost_max", gaps.lost_max == kUnknown ? Json(nullptr) : Json(gaps.lost_max)}};
}

inline Json or_null(const std::string& text)
{
    return text.empty() ? Json(nullptr) : Json(text);
}

template <typename T>
Json or_null(const std::optional<T>& value)
{
    return value ? Json(*value) : Json(nullptr);
}

} // namespace iio_stream::cli
