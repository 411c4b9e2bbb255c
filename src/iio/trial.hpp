// SPDX-License-Identifier: MIT
#pragma once

#include "iio/context.hpp"
#include "iio/source.hpp"

#include <optional>
#include <string>

namespace iio_stream::iio {

/// Has a device fill some blocks of that memory, with a mark on each page, and checks every page:
/// whether the DMA wrote these pages, or copies of them. "" if it wrote them, otherwise why not;
/// nullopt if the device, or this memory, takes no DMABUFs. Throws Error if the device delivers no
/// samples. `block_size` returns the size used.
std::optional<std::string> why_no_data(const Device& device, const BufferSettings& settings,
                                       const Memory& memory, std::size_t& block_size);

} // namespace iio_stream::iio
