// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/endpoint.hpp"

namespace iio_stream::sim {

/// The scheme "sim:", a simulated ADC inside this process.
Scheme scheme();

} // namespace iio_stream::sim
