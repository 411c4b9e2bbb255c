// SPDX-License-Identifier: MIT
#include "iio/attribute_value.hpp"

#include "core/text.hpp"

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace iio_stream::iio {

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
