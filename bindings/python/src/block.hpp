// SPDX-License-Identifier: MIT
#pragma once

#include "viewed.hpp"

namespace iio_stream::python {

/// A received block, and one that is to be filled.
using FullBlock = Viewed<Filled, CpuRead, true>;
using EmptyBlock = Viewed<Block, CpuWrite, false>;

} // namespace iio_stream::python
