// SPDX-License-Identifier: MIT
// Parses values of radio attributes: "71.000000 dB", "[-3 1 71]", "manual fast_attack".
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace iio_stream::iio {

/// The number a value starts with, whatever unit follows.
std::optional<double> number_in_value(const std::string& value);

/// The words of a list of values; none for a range.
std::vector<std::string> listed_values(const std::string& available);

/// The text to write to an attribute: whole Hertz, or the shortest exact form.
std::string hertz_text(double hertz);
std::string number_text(double number);

} // namespace iio_stream::iio
