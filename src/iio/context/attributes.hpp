// SPDX-License-Identifier: MIT
// How radio attributes are named ("ad9361-phy/voltage0/hardwaregain") and what their values are
// made of ("71.000000 dB",
// "[-3 1 71]", "manual fast_attack").
#pragma once

#include "iio/context/context.hpp"

#include <optional>
#include <string>
#include <vector>

namespace iio_stream::iio {

/// Splits "[DEVICE/][CHANNEL/]NAME", counting the parts from the back.
struct AttributePath {
    std::string device, channel, name;
    static AttributePath parse(const std::string& path, const ContextPtr& context);
};

/// The number a value starts with, whatever unit follows.
std::optional<double> number_in_value(const std::string& value);

/// The words of a list of values; none for a range.
std::vector<std::string> listed_values(const std::string& available);

/// The text to write to an attribute: whole Hertz, or the shortest exact form.
std::string hertz_text(double hertz);
std::string number_text(double number);

} // namespace iio_stream::iio
