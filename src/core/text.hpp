// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace iio_stream::detail {

/// "a,b" → {"a", "b"}; an empty list has no parts.
std::vector<std::string> split(std::string_view list, char separator = ',');

/// Foreign text (a peer's, sysfs', a file's) as a terminal, a log and JSON may have it: control
/// characters, those that turn the direction of writing and bytes that are no UTF-8 become "\\x1b".
enum class Lines { one, many }; ///< of many the ends stay, and tabs
std::string printable(std::string_view text, Lines lines = Lines::one);

/// Adds `item` to a list that people read, after ", " where there is something already.
void add_item(std::string& list, const std::string& item);

/// Adds `clause` to a reason, after "; " where there is something already.
void add_clause(std::string& text, const std::string& clause);

} // namespace iio_stream::detail
