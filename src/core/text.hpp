// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace iio_stream::detail {

/// "a,b" → {"a", "b"}; an empty list has no parts.
std::vector<std::string> split(std::string_view list, char separator = ',');

/// Adds `item` to a list that people read, after ", " where there is something already.
void add_item(std::string& list, const std::string& item);

/// Adds `clause` to a reason, after "; " where there is something already.
void add_clause(std::string& text, const std::string& clause);

} // namespace iio_stream::detail
