// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/endpoint.hpp"

namespace iio_stream::check {

Scheme null_scheme();   ///< "null:" counts and discards
Scheme verify_scheme(); ///< "verify:ramp", "verify:lanes": checks every sample

} // namespace iio_stream::check
