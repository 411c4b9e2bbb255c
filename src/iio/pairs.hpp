// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/format.hpp"

#include <string>
#include <vector>

namespace iio_stream::iio {

/// Which channels are I and Q: as the device is known to have them, two and two, or none.
enum class Iq { automatic, on, off };

Iq parse_iq(const std::string& text);

/// I or Q by the modifier at the end of the id, a counter by its type at the beginning.
Component component_of(const std::string& id);

/// The number of the I/Q pair, or of the real converter, that a channel belongs to: 1 for
/// "voltage1_q" and, on a core whose channels come in pairs without saying so, for "voltage3".
unsigned converter_of(const std::string& device, const std::string& id);

/// Says of chosen channels, in scan order, which are I and Q. One whose other half is not beside it
/// is a real one. Throws a usage Error where iq=on cannot be.
void pair_up(const std::string& device, std::vector<Channel>& channels, Iq iq);

} // namespace iio_stream::iio
