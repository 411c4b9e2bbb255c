// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/printable.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace iio_stream::detail {

/// Splits "a,b" into {"a", "b"}. An empty list has no parts.
std::vector<std::string> split(std::string_view list, char separator = ',');

using iio_stream::Lines;
using iio_stream::printable;

/// The bytes as lowercase hexadecimal digits.
std::string hex_digits(std::span<const unsigned char> bytes);

/// The text with every character percent-encoded ("%41"), except the characters that `is_plain`
/// accepts.
std::string percent_encoded(std::string_view text, bool (*is_plain)(char));

/// Decodes the percent code ("%41") at the start of `text`. Returns nullopt if the text does not
/// start with one.
std::optional<char> percent_decoded(std::string_view text) noexcept;

/// Appends `item` to a human-readable list, after ", " unless it is the first item.
void add_item(std::string& list, const std::string& item);

/// Appends `clause` to a reason, after "; " unless it is the first clause.
void add_clause(std::string& text, const std::string& clause);

} // namespace iio_stream::detail
