// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/endpoint.hpp"

namespace iio_stream::check {

Scheme null_scheme();   ///< "null:", which counts and discards samples
Scheme verify_scheme(); ///< "verify:ramp" and "verify:lanes", which check every sample

} // namespace iio_stream::check
