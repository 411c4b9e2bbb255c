// SPDX-License-Identifier: MIT
#pragma once

#include "iio/context/context.hpp"

#include <string>

namespace iio_stream::iio {

/// This machine's devices, by sysfs. Throws a device Error if the kernel has no IIO.
ContextPtr open_local();

/// What the folder of a device in sysfs shows: its files, sorted into channels by their names in
/// the way of libiio, whose names people know.
DeviceNode read_device(const std::string& dir);

} // namespace iio_stream::iio
