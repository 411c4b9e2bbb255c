// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace iio_stream::iio {

/// The name of the controller that moves a device's samples in that direction, as in its interrupt
/// line (sys::interrupt_count); "" if unknown.
std::string dma_controller_of(const std::string& device_id, bool output);

} // namespace iio_stream::iio
