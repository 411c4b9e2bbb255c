// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/endpoint.hpp"

namespace iio_stream::iio {

/// "iio:DEVICE", an IIO device's buffer.
Scheme scheme();

} // namespace iio_stream::iio
