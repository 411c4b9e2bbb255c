// SPDX-License-Identifier: MIT
#pragma once

#include <cstdio>
#include <string>

namespace iio_stream::cli {

/// Prints one line of human-readable text. Control characters, including line ends, and bytes that
/// are not UTF-8 are printed as \xNN, so that file names and other text from outside cannot control
/// the terminal. All human-readable text goes through this function or print_text().
[[gnu::format(printf, 2, 3)]] void print_line(std::FILE* out, const char* format, ...);

/// Like print_line(), for text of several lines. Names in the text must already be printable.
void print_text(std::FILE* out, const std::string& text);

/// Prints a drawing, which contains sequences that control the terminal, and flushes `out`. Names
/// in the drawing must already be printable.
void print_drawing(std::FILE* out, const std::string& drawing);

/// Returns the JSON unchanged if it cannot control a terminal. Otherwise returns it on one line,
/// with all characters that are not printable ASCII as \uNNNN.
std::string safe_json(const std::string& json);
void print_json_line(std::FILE* out, const std::string& json); ///< prints safe_json(json)

/// Like std::sprintf(), but returns a string.
[[gnu::format(printf, 1, 2)]] std::string formatted(const char* format, ...);

} // namespace iio_stream::cli
