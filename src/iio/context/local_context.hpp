// SPDX-License-Identifier: MIT
#pragma once

#include "iio/context/context.hpp"

#include <string>

namespace iio_stream::iio {

/// Opens this machine's devices through sysfs. Throws a device Error if the kernel has no IIO.
ContextPtr open_local();

/// Reads the sysfs folder of a device. Sorts its files into channels by their names, as libiio
/// does, because users know libiio's names.
DeviceNode read_device(const std::string& dir);

} // namespace iio_stream::iio
