// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/endpoint.hpp"

namespace iio_stream::file {

/// "file:PATH" or just a path; "-" is stdin or stdout.
Scheme scheme();

} // namespace iio_stream::file
