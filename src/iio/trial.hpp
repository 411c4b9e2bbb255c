// SPDX-License-Identifier: MIT
#pragma once

#include "iio/context.hpp"
#include "iio/source.hpp"

#include <optional>
#include <string>

namespace iio_stream::iio {

/// Has a device fill some blocks of that memory, in which each page was marked, and looks at each
/// page: whether the DMA wrote these pages, or copies of them. "" where it did, else why not;
/// nullopt where the device, or this memory, takes no DMABUFs. Throws Error where the device gives
/// no samples. `block_size`: what a block had.
std::optional<std::string> why_no_data(const Device& device, const BufferSettings& settings,
                                       const Memory& memory, std::size_t& block_size);

} // namespace iio_stream::iio
