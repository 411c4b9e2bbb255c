// SPDX-License-Identifier: MIT
#pragma once

#include "viewed.hpp"

namespace iio_stream::python {

/// A received block, and a block to be filled.
using PyBlock = Viewed<Block, CpuRead, true>;
using PyEmptyBlock = Viewed<EmptyBlock, CpuWrite, false>;

} // namespace iio_stream::python
