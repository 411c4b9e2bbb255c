// SPDX-License-Identifier: MIT
#pragma once

#include "core/fifo.hpp"
#include "iio_stream/block.hpp"

namespace iio_stream::detail {

/// An empty block given to a source, and how many bytes of it to fill.
struct Order {
    EmptyBlock block;
    std::size_t bytes;
};
using Orders = Fifo<Order>;

} // namespace iio_stream::detail
