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

/// The text to write to an attribute: whole hertz, or a number of up to 12 significant digits.
std::string hertz_text(double hertz);
std::string number_text(double number);

} // namespace iio_stream::iio
