// SPDX-License-Identifier: MIT
#pragma once

#include "iio/context/context.hpp"
#include "iio/options.hpp"
#include "iio_stream/memory.hpp"

#include <optional>
#include <string>

namespace iio_stream::iio {

/// Tests whether the DMA writes to the blocks of `memory` or only to copies of them. Marks each
/// page of some blocks, has the device fill them, and checks every page. Returns "" if the DMA
/// wrote all pages, the reason if it did not, and nullopt if the device takes no DMABUFs of this
/// memory. Throws an Error if the device delivers no samples. Sets `block_size` to the size of the
/// blocks in bytes.
std::optional<std::string> dma_write_test(const Device& device, const BufferSettings& settings,
                                          const Memory& memory, std::size_t& block_size);

} // namespace iio_stream::iio
