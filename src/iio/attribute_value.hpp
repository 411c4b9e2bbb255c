// SPDX-License-Identifier: MIT
// What attributes of radios read like: "71.000000 dB", "[-3 1 71]", "manual fast_attack".
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace iio_stream::iio {

/// The number that a value begins with, whatever unit follows.
std::optional<double> number_in_value(const std::string& value);

/// The words of a list of values; none of a range.
std::vector<std::string> listed_values(const std::string& available);

/// What an attribute is written with: whole Hertz, or as short as it is exact.
std::string hertz_text(double hertz);
std::string number_text(double number);

} // namespace iio_stream::iio
