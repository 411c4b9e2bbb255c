// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/endpoint.hpp"

namespace iio_stream::file {

/// The scheme of "file:PATH" and of plain paths; "-" is stdin or stdout.
Scheme scheme();

} // namespace iio_stream::file
