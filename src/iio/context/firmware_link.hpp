// SPDX-License-Identifier: MIT
#pragma once

#include "iio/context/context.hpp"

#include <string>

namespace iio_stream::iio {

/// Whether the device tree says that these two local devices form one converter: one's node points
/// at the other's ("spibus-connected" of ADI's cores, "io-backends" of mainline's converters).
bool linked_by_firmware(const Device& one, const Device& other);

/// The same for two nodes, as folders of files.
bool nodes_linked(const std::string& one, const std::string& other);

} // namespace iio_stream::iio
