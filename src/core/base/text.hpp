// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/printable.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace iio_stream::detail {

/// "a,b" → {"a", "b"}; an empty list has no parts.
std::vector<std::string> split(std::string_view list, char separator = ',');

using iio_stream::Lines;
using iio_stream::printable;

/// Hexadecimal digits of bytes, in small letters.
std::string hex_digits(std::span<const unsigned char> bytes);

/// The text with every character encoded as "%41", except those that `is_plain` accepts.
std::string percent_encoded(std::string_view text, bool (*is_plain)(char));

/// The character that "%41" at the start of `text` encodes; nullopt if the text does not start with
/// such a code.
std::optional<char> percent_decoded(std::string_view text) noexcept;

/// Adds `item` to a list for people, after ", " if it is not the first.
void add_item(std::string& list, const std::string& item);

/// Adds `clause` to a reason, after "; " if it is not the first.
void add_clause(std::string& text, const std::string& clause);

} // namespace iio_stream::detail
