// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/block.hpp"

#include <string>

namespace iio_stream::iio {

/// Why the DMA behind a buffer would not, or may not, work on these blocks themselves but on copies
/// of them that nobody keeps the same (core/bounce.hpp); "" where it does, or where ATTACH will say
/// why not. With nothing attached, and the device off. Takes the blocks' content.
std::string why_not_reached(int buffer_fd, const BlockPool& pool);

} // namespace iio_stream::iio
