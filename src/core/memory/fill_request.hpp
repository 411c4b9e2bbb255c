// SPDX-License-Identifier: MIT
#pragma once

#include "core/base/fifo.hpp"
#include "iio_stream/block.hpp"

namespace iio_stream::detail {

/// An empty block given to a source, and the number of bytes to fill.
struct FillRequest {
    EmptyBlock block;
    std::size_t bytes;
};
using FillQueue = Fifo<FillRequest>;

} // namespace iio_stream::detail
