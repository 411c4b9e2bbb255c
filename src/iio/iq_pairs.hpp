// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/format.hpp"

#include <string>
#include <vector>

namespace iio_stream::iio {

/// Which channels are I and Q: as known for the device, in pairs, or none.
enum class Iq { automatic, on, off };

Iq parse_iq(const std::string& text);

/// I or Q by the modifier at the end of the id, a counter by the type at its start.
Component component_of(const std::string& id);

/// The number of the I/Q pair, or of the real converter, a channel belongs to: 1 for "voltage1_q"
/// and, on a core whose channels come in pairs without saying so, for "voltage3".
unsigned converter_of(const std::string& device, const std::string& id);

/// Marks which of the chosen channels, in scan order, are I and Q. One without its partner next to
/// it is a real one. Throws a usage Error if iq=on is impossible.
void pair_up(const std::string& device, std::vector<Channel>& channels, Iq iq);

} // namespace iio_stream::iio
