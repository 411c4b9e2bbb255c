// SPDX-License-Identifier: MIT
#pragma once

#include "iio/context/context.hpp"
#include "iio/options.hpp"
#include "iio_stream/memory.hpp"

#include <optional>
#include <string>

namespace iio_stream::iio {

/// Marks each page of some blocks of that memory, has the device fill them, and checks every page:
/// the DMA wrote either these pages or copies of them. Returns "" if it wrote all of them,
/// otherwise the reason why it did not, and nullopt if the device or this memory takes no DMABUFs.
/// Throws an Error if the device delivers no samples. `block_size` returns the size of the blocks.
std::optional<std::string> dma_write_test(const Device& device, const BufferSettings& settings,
                                          const Memory& memory, std::size_t& block_size);

} // namespace iio_stream::iio
