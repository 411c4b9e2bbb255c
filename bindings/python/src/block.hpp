// SPDX-License-Identifier: MIT
#pragma once

#include "viewed.hpp"

namespace iio_stream::python {

/// A received block.
using FullBlock = Viewed<Filled, CpuRead, true>;

} // namespace iio_stream::python
