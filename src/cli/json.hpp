// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace iio_stream::cli {

using Json = nlohmann::ordered_json;

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
