// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/format.hpp"

#include <cstddef>

namespace iio_stream::detail {

/// Converts one value between any two scan types, full scale to full scale. Integers round to
/// nearest (ties up) and saturate; floating point is clamped to [-1, 1], NaN becomes 0.
void convert_value(const ScanType& from, const std::byte* in, const ScanType& to, std::byte* out);

} // namespace iio_stream::detail
