// SPDX-License-Identifier: MIT
#include "iio/context/attributes.hpp"

#include "core/base/text.hpp"
#include "iio_stream/error.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace iio_stream::iio {

AttributePath AttributePath::parse(const std::string& path, const ContextPtr& context)
{
    const auto parts = detail::split(path, '/');
    AttributePath found;
    if (parts.empty() || parts.size() > 3)
        fail_usage("'" + path + "' is not an attribute", "[DEVICE/][CHANNEL/]NAME");
    found.name = parts.back();
    if (parts.size() == 3) {
        found.device = parts[0];
        found.channel = parts[1];
    } else if (parts.size() == 2) {
        // A single part before the name is a device if one has this name, label or id, otherwise a
        // channel.
        const auto all = devices(context);
        const bool device = std::any_of(all.begin(), all.end(), [&](const Device& d) {
            return d.name() == parts[0] || d.label() == parts[0] || d.id() == parts[0];
        });
        (device ? found.device : found.channel) = parts[0];
    }
    return found;
}

std::optional<double> number_in_value(const std::string& value)
{
    char* end = nullptr;
    const double number = std::strtod(value.c_str(), &end);
    if (end == value.c_str() || !std::isfinite(number)) // "1e400", "nan"
        return std::nullopt;
    return number;
}

std::vector<std::string> listed_values(const std::string& available)
{
    if (available.starts_with('['))
        return {};
    std::vector<std::string> values = detail::split(available, ' ');
    std::erase(values, "");
    return values;
}

std::optional<NumberRange> range_of_numbers(const std::string& available)
{
    const bool is_range = available.starts_with('[');
    const std::string inner = is_range ? available.substr(1, available.find(']') - 1) : available;
    std::vector<double> numbers;
    for (const std::string& word : detail::split(inner, ' ')) {
        if (word.empty())
            continue;
        const auto number = number_in_value(word);
        if (!number)
            return std::nullopt;
        numbers.push_back(*number);
    }
    if (numbers.empty() || (is_range && numbers.size() != 3))
        return std::nullopt;
    if (is_range)
        return NumberRange{numbers[0], numbers[2]};
    const auto [least, most] = std::ranges::minmax(numbers);
    return NumberRange{least, most};
}

std::string si_text(double number, const std::string& unit)
{
    constexpr std::array kPrefixes{"", "k", "M", "G"};
    std::size_t prefix = 0;
    for (; prefix + 1 < kPrefixes.size() && std::abs(number) >= 1000; ++prefix)
        number /= 1000;
    std::array<char, 64> text;
    std::snprintf(text.data(), text.size(), "%.6g %s", number, kPrefixes[prefix]);
    return text.data() + unit;
}

std::string hertz_text(double hertz)
{
    std::array<char, 512> text; // the largest double has 309 digits
    std::snprintf(text.data(), text.size(), "%.0f", hertz);
    return text.data();
}

std::string number_text(double number)
{
    std::array<char, 64> text;
    std::snprintf(text.data(), text.size(), "%.12g", number);
    return text.data();
}

} // namespace iio_stream::iio
