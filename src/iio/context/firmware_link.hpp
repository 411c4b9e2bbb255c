// SPDX-License-Identifier: MIT
#pragma once

#include "iio/context/context.hpp"

#include <string>

namespace iio_stream::iio {

/// Whether the device tree shows that two local devices form one converter: the node of one points
/// at the node of the other ("spibus-connected" of ADI's cores, "io-backends" of mainline's
/// converters).
bool linked_by_firmware(const Device& one, const Device& other);

/// The same for two nodes, given as folders of the device tree.
bool nodes_linked(const std::string& one, const std::string& other);

} // namespace iio_stream::iio
