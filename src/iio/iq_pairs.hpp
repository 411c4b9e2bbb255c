// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/format.hpp"

#include <string>
#include <vector>

namespace iio_stream::iio {

/// Selects the channels that are I and Q. `automatic` follows the names of the channels and of the
/// device. `on` takes all channels in pairs. `off` takes none.
enum class Iq { automatic, on, off };

Iq parse_iq(const std::string& text);

/// Returns I or Q if the id ends with that modifier, a counter if it starts with "count", and real
/// otherwise.
Component component_of(const std::string& id);

/// The number of the I/Q pair or real converter that a channel belongs to. It is 1 for
/// "voltage1_q", and for "voltage3" on a core whose channels are pairs without a modifier.
unsigned converter_of(const std::string& device, const std::string& id);

/// Marks which of the chosen channels, in scan order, are I and Q. A channel without its partner
/// next to it is real. Throws a usage Error if iq=on is impossible.
void pair_up(const std::string& device, std::vector<Channel>& channels, Iq iq);

} // namespace iio_stream::iio
