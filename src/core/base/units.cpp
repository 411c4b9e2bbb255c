// SPDX-License-Identifier: MIT
#include "iio_stream/units.hpp"

#include "iio_stream/block.hpp"
#include "iio_stream/error.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <optional>
#include <utility>

namespace iio_stream {

namespace {

struct Unit {
    std::string_view name;
    double factor;
};

constexpr std::array kSizeUnits{Unit{"", 1.0},
                                Unit{"k", 1e3},
                                Unit{"M", 1e6},
                                Unit{"G", 1e9},
                                Unit{"T", 1e12},
                                Unit{"Ki", 1024.0},
                                Unit{"Mi", 1048576.0},
                                Unit{"Gi", 1073741824.0},
                                Unit{"Ti", 1099511627776.0},
                                Unit{"B", 1.0},
                                Unit{"kB", 1e3},
                                Unit{"MB", 1e6},
                                Unit{"GB", 1e9},
                                Unit{"TB", 1e12},
                                Unit{"KiB", 1024.0},
                                Unit{"MiB", 1048576.0},
                                Unit{"GiB", 1073741824.0},
                                Unit{"TiB", 1099511627776.0}};
constexpr std::array kRateUnits{
    Unit{"", 1.0},     Unit{"k", 1e3},    Unit{"M", 1e6},    Unit{"G", 1e9},    Unit{"Hz", 1.0},
    Unit{"kHz", 1e3},  Unit{"MHz", 1e6},  Unit{"GHz", 1e9},  Unit{"S/s", 1.0},  Unit{"kS/s", 1e3},
    Unit{"MS/s", 1e6}, Unit{"GS/s", 1e9}, Unit{"sps", 1.0},  Unit{"ksps", 1e3}, Unit{"Msps", 1e6},
    Unit{"Gsps", 1e9}, Unit{"SPS", 1.0},  Unit{"kSPS", 1e3}, Unit{"MSPS", 1e6}, Unit{"GSPS", 1e9}};
constexpr std::array kTimeUnits{Unit{"", 1e9},     Unit{"ns", 1.0},   Unit{"us", 1e3},
                                Unit{"ms", 1e6},   Unit{"s", 1e9},    Unit{"sec", 1e9},
                                Unit{"min", 60e9}, Unit{"h", 3600e9}, Unit{"d", 86400e9}};

constexpr std::uint64_t kLargestSize = INT64_MAX; // keeps sums of two sizes within 64 bits

[[noreturn]] void refuse(std::string_view name, std::string_view text, const char* accepted,
                         const std::string& hint = "")
{
    fail_usage(std::string(name) + "=" + std::string(text) + " is not " + accepted, hint);
}

bool begins(std::string_view text, std::string_view start)
{
    return std::equal(
        start.begin(), start.end(), text.begin(),
        text.begin() + static_cast<std::ptrdiff_t>(std::min(start.size(), text.size())),
        [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); });
}

// A hint for a number with an unknown unit: "did you mean 64Ki?" for 64kib, "did you mean 10ms or
// 10min?" for 10m.
template <std::size_t N>
std::string meant(std::string_view text, const std::array<Unit, N>& units)
{
    double number = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const std::string_view suffix = text.substr(static_cast<std::size_t>(rest - text.data()));
    if (error != std::errc{} || suffix.empty() || number < 0)
        return "";
    std::string_view longest;
    std::vector<std::string> close;
    for (const Unit& unit : units) {
        if (begins(unit.name, suffix) && close.size() < 2)
            close.push_back(std::string(text.data(), rest).append(unit.name));
        if (begins(suffix, unit.name) && unit.name.size() > longest.size())
            longest = unit.name;
    }
    if (close.empty() && !longest.empty())
        close.push_back(std::string(text.data(), rest).append(longest));
    if (close.empty())
        return "";
    return "did you mean " + close[0] + (close.size() > 1 ? " or " + close[1] : "") + "?";
}

// Parses a number followed by one of the units. Returns NaN for anything else.
template <std::size_t N>
double parse_with_unit(std::string_view text, const std::array<Unit, N>& units)
{
    double number = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || !std::isfinite(number))
        return std::nan("");
    const std::string_view suffix{rest, static_cast<std::size_t>(text.data() + text.size() - rest)};
    for (const Unit& unit : units)
        if (unit.name == suffix)
            return number * unit.factor;
    return std::nan("");
}

// Decimal fractions are not exact in binary: 1.001 * 1000 is 1000.9999999999999. A product this
// close to a whole number is rounded to it.
double whole_if_meant(double value)
{
    const double whole = std::nearbyint(value);
    return std::abs(value - whole) <= std::abs(value) * 0x1p-50 ? whole : value;
}

// Parses a whole number with a unit, without rounding. Returns nullopt for fractions, exponents and
// anything else.
std::optional<std::uint64_t> parse_whole(std::string_view text)
{
    std::uint64_t number = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const std::string_view suffix{rest, static_cast<std::size_t>(text.data() + text.size() - rest)};
    for (const Unit& unit : kSizeUnits) {
        const auto factor = static_cast<std::uint64_t>(unit.factor);
        if (error == std::errc{} && unit.name == suffix && number <= kLargestSize / factor)
            return number * factor;
    }
    return std::nullopt;
}

std::size_t edit_distance(std::string_view a, std::string_view b)
{
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i);
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
        }
    }
    return row.back();
}

} // namespace

std::uint64_t parse_size(std::string_view name, std::string_view text)
{
    if (const auto whole = parse_whole(text))
        return *whole;
    const double value = whole_if_meant(parse_with_unit(text, kSizeUnits));
    if (!(value >= 0 && value < 0x1p63) || value != std::floor(value))
        refuse(name, text, "a whole size: expected a number with k M G T or Ki Mi Gi Ti",
               meant(text, kSizeUnits));
    return static_cast<std::uint64_t>(value);
}

std::size_t parse_memory_size(std::string_view name, std::string_view text)
{
    const std::uint64_t size = parse_size(name, text);
    if (size > SIZE_MAX)
        refuse(name, text, "a size this machine can address");
    return static_cast<std::size_t>(size);
}

double parse_rate(std::string_view name, std::string_view text)
{
    const double value = parse_with_unit(text, kRateUnits);
    if (!(value >= 0 && std::isfinite(value)))
        refuse(name, text, "a rate or frequency: expected a number with k M G",
               meant(text, kRateUnits));
    return value;
}

std::chrono::nanoseconds parse_duration(std::string_view name, std::string_view text)
{
    const double value = parse_with_unit(text, kTimeUnits);
    if (value >= 9.2e18)
        refuse(name, text, "a time of less than 290 years");
    if (!(value >= 0))
        refuse(name, text, "a time: expected a number with ns us ms s min h d",
               meant(text, kTimeUnits));
    return std::chrono::nanoseconds{std::llround(value)};
}

bool parse_switch(std::string_view name, std::string_view text)
{
    if (text == "on" || text == "true" || text == "yes" || text == "1")
        return true;
    if (text == "off" || text == "false" || text == "no" || text == "0")
        return false;
    refuse(name, text, "on or off");
}

double parse_number(std::string_view name, std::string_view text)
{
    const double value = parse_with_unit(text, std::array{Unit{"", 1.0}});
    if (std::isnan(value))
        refuse(name, text, "a number");
    return value;
}

std::optional<UsbId> parse_usb_id(std::string_view text)
{
    const auto number = [](std::string_view digits, std::uint16_t& value) {
        const char* const last = digits.data() + digits.size();
        const auto [end, error] = std::from_chars(digits.data(), last, value, 16);
        return error == std::errc() && end == last;
    };
    const std::size_t colon = text.find(':');
    UsbId id;
    if (colon == text.npos || !number(text.substr(0, colon), id.vendor) ||
        !number(text.substr(colon + 1), id.product))
        return std::nullopt;
    return id;
}

std::string nearest(std::string_view text, const std::vector<std::string>& known)
{
    const auto starts = [&](const std::string& candidate) { return candidate.starts_with(text); };
    // Candidates that begin with `text`, as frequency does with freq.
    std::vector<std::string> begun;
    if (text.size() >= 3)
        std::copy_if(known.begin(), known.end(), std::back_inserter(begun), starts);
    std::sort(begun.begin(), begun.end(),
              [](const auto& a, const auto& b) { return a.size() < b.size(); });
    if (begun.size() == 1 || (begun.size() > 1 && begun[0].size() < begun[1].size()))
        return begun[0];
    std::string best;
    // Allow two wrong letters, or a third of the text if that is more, but never all letters.
    const std::size_t most = std::max<std::size_t>(2, text.size() / 3);
    std::size_t best_distance = std::min(most + 1, std::max<std::size_t>(text.size(), 1));
    for (const std::string& candidate : known) {
        const std::size_t distance = edit_distance(text, candidate);
        if (distance < best_distance) {
            best_distance = distance;
            best = candidate;
        }
    }
    return best;
}

std::string suggest(std::string_view text, const std::vector<std::string>& known)
{
    if (const std::string near = nearest(text, known); !near.empty())
        return "did you mean '" + near + "'?";
    if (known.empty())
        return "there are none";
    std::string all = "known: ";
    for (const std::string& candidate : known)
        all += (&candidate == &known.front() ? "" : ", ") + candidate;
    return all;
}

std::string format_size(std::uint64_t bytes)
{
    static constexpr std::array<const char*, 5> kNames{"", "Ki", "Mi", "Gi", "Ti"};
    std::size_t unit = 0;
    while (unit + 1 < kNames.size() && bytes != 0 && bytes % 1024 == 0) {
        bytes /= 1024;
        ++unit;
    }
    return std::to_string(bytes) + kNames[unit];
}

std::string format_bounds(std::uint64_t least, std::uint64_t most)
{
    if (least == most)
        return std::to_string(least);
    return std::to_string(least) + " to " + (most == kUnknown ? "?" : std::to_string(most));
}

} // namespace iio_stream
