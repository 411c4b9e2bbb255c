// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/endpoint.hpp"

namespace iio_stream::iio {

/// The scheme "iio:DEVICE", a buffer of an IIO device.
Scheme scheme();

} // namespace iio_stream::iio
