// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/stats.hpp"

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace iio_stream::cli {

using Json = nlohmann::ordered_json;

/// Serializes JSON on one line, or indented by `indent` spaces per level. Bytes of a name that are
/// not UTF-8 become U+FFFD.
inline std::string json_text(const Json& json, int indent = -1)
{
    return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

/// The gaps of a recording or a capture as JSON.
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
