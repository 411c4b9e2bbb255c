// SPDX-License-Identifier: MIT
#pragma once

#include "iio/context.hpp"

#include <optional>
#include <string>
#include <vector>

namespace iio_stream::iio {

/// Where one portable option stands in the hardware.
struct TuningTarget {
    Device device;
    std::string channel, attribute; ///< "in_voltage0", "hardwaregain"
    /// Of a frequency that two oscillators make: the other one's, which is added to it.
    std::string added_channel, added_attribute;

    std::string text() const; ///< "ad9361-phy/in_voltage0/hardwaregain"
};

/// What the driver lists or gives as a range beside an attribute; empty where it says nothing.
std::string available_for(const TuningTarget& place);

/// Writes a value as it is, and what reads back then. Throws the Error of a driver that refuses it.
std::string write_at(const TuningTarget& place, const std::string& value);

/// The number that stands there now, of two oscillators their sum; none where it cannot be read.
std::optional<double> value_of(const TuningTarget& place);

/// What all places say, if they say the same.
std::optional<double> common_value(const std::vector<TuningTarget>& places);

} // namespace iio_stream::iio
