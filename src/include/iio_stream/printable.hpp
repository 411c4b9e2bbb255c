// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/api.hpp"

#include <string>
#include <string_view>

namespace iio_stream {

enum class Lines { one, many }; ///< many: keeps newlines and tabs

/// Makes text from outside (a file name, a device name, metadata) safe to print: the result cannot
/// control a terminal or forge lines of a log. Each byte of a control character, of a character
/// that breaks lines or changes the writing direction, or of invalid UTF-8 is replaced by a
/// backslash, an x and two hexadecimal digits. The text of an Error is already printable. Thread:
/// any.
IIO_STREAM_API std::string printable(std::string_view text, Lines lines = Lines::one);

} // namespace iio_stream
