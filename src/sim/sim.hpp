// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/endpoint.hpp"

namespace iio_stream::sim {

/// "sim:", an ADC in the process.
Scheme scheme();

} // namespace iio_stream::sim
