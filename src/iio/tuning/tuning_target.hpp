// SPDX-License-Identifier: MIT
#pragma once

#include "iio/context/context.hpp"

#include <optional>
#include <string>
#include <vector>

namespace iio_stream::iio {

/// The attribute behind one portable option.
struct TuningTarget {
    Device device;
    std::string channel, attribute; ///< "in_voltage0", "hardwaregain"
    /// The second of two oscillators that make up a frequency by addition; empty if there is only
    /// one.
    std::string added_channel, added_attribute;

    std::string text() const; ///< "ad9361-phy/in_voltage0/hardwaregain"
};

/// The values or range the driver lists next to an attribute; empty if it lists none.
std::string available_for(const TuningTarget& place);

/// Writes a value unchanged, and returns the value that is read back. Throws the driver's Error if
/// the driver refuses the value.
std::string write_at(const TuningTarget& place, const std::string& value);

/// The current number, or the sum if there are two oscillators; nullopt if it cannot be read.
std::optional<double> value_of(const TuningTarget& place);

/// The value of all places; nullopt if they differ or a place cannot be read.
std::optional<double> common_value(const std::vector<TuningTarget>& places);

} // namespace iio_stream::iio
