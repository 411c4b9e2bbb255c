// SPDX-License-Identifier: MIT
// The names of radio attributes ("ad9361-phy/voltage0/hardwaregain") and the forms of their values
// ("71.000000 dB", "[-3 1 71]", "manual fast_attack").
#pragma once

#include "iio/context/context.hpp"

#include <optional>
#include <string>
#include <vector>

namespace iio_stream::iio {

/// The parts of "[DEVICE/][CHANNEL/]NAME", counted from the end.
struct AttributePath {
    std::string device, channel, name;
    static AttributePath parse(const std::string& path, const ContextPtr& context);
};

/// Returns the number that a value starts with; nullopt if there is no number. A unit may follow.
std::optional<double> number_in_value(const std::string& value);

/// The words of a list of values; empty for a range.
std::vector<std::string> listed_values(const std::string& available);

/// The bounds of the numbers that a driver lists.
struct NumberRange {
    double least, most;
    bool contains(double number) const noexcept { return number >= least && number <= most; }
};
/// The bounds in "[MIN STEP MAX]" or of a list of numbers; nullopt for any other text.
std::optional<NumberRange> range_of_numbers(const std::string& available);

/// The number with a prefix of its unit, for messages: "2.4 kHz", "61.44 MS/s".
std::string si_text(double number, const std::string& unit);

/// The text to write to an attribute: whole hertz, or a number of up to 12 significant digits.
std::string hertz_text(double hertz);
std::string number_text(double number);

} // namespace iio_stream::iio
