// SPDX-License-Identifier: MIT
#pragma once

#include "iio/buffer_dir.hpp"
#include "iio_stream/block.hpp"

#include <string>

namespace iio_stream::iio {

/// Why the DMA behind a buffer does not, or may not, work on these blocks but on copies that are
/// not kept in sync (core/bounce.hpp); "" if it works on the blocks, or if ATTACH will say why not.
/// Call it with nothing attached and the device off. Overwrites the blocks.
std::string why_not_reached(BufferDir& dir, int buffer_fd, const BlockPool& pool);

} // namespace iio_stream::iio
