// SPDX-License-Identifier: MIT
#pragma once

#include <cstdio>
#include <string>

namespace iio_stream::cli {

/// Prints text for people: one line. File names and other text from outside cannot control the
/// terminal: control characters, line ends among them, and bytes that are not UTF-8 are printed as
/// \xNN. Everything that the command prints for people goes through here or print_text().
[[gnu::format(printf, 2, 3)]] void print_line(std::FILE* out, const char* format, ...);

/// The same for text of several lines, which may contain names only if they are printable already.
void print_text(std::FILE* out, const std::string& text);

/// JSON in one line, in which a name cannot control a terminal either: its characters become
/// \uNNNN.
std::string safe_json(const std::string& json);
void print_json_line(std::FILE* out, const std::string& json); ///< safe_json()

/// As std::sprintf().
[[gnu::format(printf, 1, 2)]] std::string formatted(const char* format, ...);

} // namespace iio_stream::cli
