// SPDX-License-Identifier: MIT
#include "core/base/text.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace iio_stream {

namespace detail {

namespace {

struct Character {
    std::size_t bytes = 1;
    std::uint32_t code = 0;
    bool whole = false; ///< false: a single byte that is not UTF-8
};

Character first_of(std::string_view text)
{
    const auto at = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
    const std::uint32_t lead = at(0);
    if (lead < 0x80)
        return {1, lead, true};
    const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    constexpr std::uint32_t kLeast[] = {0x80, 0x800,
                                        0x10000}; // a code below this is an overlong form
    std::uint32_t code = lead & (0x7fU >> bytes);
    if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes)
        return {};
    for (std::size_t i = 1; i < bytes; ++i) {
        if ((at(i) & 0xc0U) != 0x80)
            return {};
        code = code << 6 | (at(i) & 0x3fU);
    }
    const bool surrogate = code >= 0xd800 && code < 0xe000;
    if (code < kLeast[bytes - 2] || code > 0x10ffff || surrogate)
        return {};
    return {bytes, code, true};
}

bool shows(const Character& c, Lines lines)
{
    if (!c.whole)
        return false;
    if (lines == Lines::many && (c.code == '\n' || c.code == '\t'))
        return true;
    const bool control = c.code < 0x20 || (c.code >= 0x7f && c.code < 0xa0);
    const bool turns = (c.code >= 0x202a && c.code <= 0x202e) ||
                       (c.code >= 0x2066 && c.code <= 0x2069) || c.code == 0x200e ||
                       c.code == 0x200f || c.code == 0x061c;
    const bool breaks = c.code == 0x2028 || c.code == 0x2029;
    return !control && !turns && !breaks;
}

} // namespace

} // namespace detail

std::string printable(std::string_view text, Lines lines)
{
    constexpr const char* kDigits = "0123456789abcdef";
    std::string clean;
    clean.reserve(text.size());
    while (!text.empty()) {
        const detail::Character c = detail::first_of(text);
        if (detail::shows(c, lines))
            clean += text.substr(0, c.bytes);
        else
            for (std::size_t i = 0; i < c.bytes; ++i) {
                const auto byte = static_cast<std::uint8_t>(text[i]);
                clean += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
            }
        text.remove_prefix(c.bytes);
    }
    return clean;
}

namespace detail {

std::vector<std::string> split(std::string_view list, char separator)
{
    std::vector<std::string> parts;
    while (!list.empty()) {
        const std::size_t end = std::min(list.find(separator), list.size());
        parts.emplace_back(list.substr(0, end));
        list.remove_prefix(std::min(end + 1, list.size()));
    }
    return parts;
}

std::string percent_encoded(std::string_view text, bool (*is_plain)(char))
{
    static constexpr char kCodeDigits[] = "0123456789ABCDEF";
    std::string encoded;
    for (const char c : text) {
        const auto byte = static_cast<std::uint8_t>(c);
        if (is_plain(c))
            encoded += c;
        else
            encoded += {'%', kCodeDigits[byte >> 4], kCodeDigits[byte & 15]};
    }
    return encoded;
}

std::optional<char> percent_decoded(std::string_view text) noexcept
{
    if (text.size() < 3 || text[0] != '%')
        return std::nullopt;
    unsigned byte = 0;
    const auto [end, error] = std::from_chars(text.data() + 1, text.data() + 3, byte, 16);
    if (error != std::errc() || end != text.data() + 3)
        return std::nullopt;
    return static_cast<char>(byte);
}

std::string hex_digits(std::span<const unsigned char> bytes)
{
    static constexpr char kHexDigits[] = "0123456789abcdef";
    std::string text;
    for (const unsigned char byte : bytes)
        text += {kHexDigits[byte >> 4], kHexDigits[byte & 15]};
    return text;
}

void add_item(std::string& list, const std::string& item)
{
    if (!list.empty())
        list += ", ";
    list += item;
}

void add_clause(std::string& text, const std::string& clause)
{
    if (clause.empty())
        return;
    if (!text.empty())
        text += "; ";
    text += clause;
}

} // namespace detail

} // namespace iio_stream
