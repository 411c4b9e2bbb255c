// SPDX-License-Identifier: MIT
#include "cli/output/print.hpp"

#include "iio_stream/printable.hpp"

#include <cstdarg>
#include <nlohmann/json.hpp>

namespace iio_stream::cli {

namespace {

std::string formatted_list(const char* format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    const int length = std::vsnprintf(nullptr, 0, format, arguments);
    std::string text(length < 0 ? 0 : static_cast<std::size_t>(length), '\0');
    std::vsnprintf(text.data(), text.size() + 1, format, again);
    va_end(again);
    return text;
}

} // namespace

void print_line(std::FILE* out, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const std::string line = printable(formatted_list(format, arguments)) + "\n";
    va_end(arguments);
    std::fputs(line.c_str(), out);
}

void print_text(std::FILE* out, const std::string& text)
{
    std::fputs(printable(text, Lines::many).c_str(), out);
}

void print_drawing(std::FILE* out, const std::string& drawing)
{
    std::fputs(drawing.c_str(), out);
    std::fflush(out);
}

// By default, nlohmann::json escapes only the ASCII control characters. The last argument of dump()
// makes it escape everything that is not ASCII, and with it all characters that are not printable.
std::string safe_json(const std::string& json)
{
    return printable(json) == json ? json : nlohmann::ordered_json::parse(json).dump(-1, ' ', true);
}

void print_json_line(std::FILE* out, const std::string& json)
{
    std::fputs((safe_json(json) + "\n").c_str(), out);
}

std::string formatted(const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    std::string text = formatted_list(format, arguments);
    va_end(arguments);
    return text;
}

} // namespace iio_stream::cli
