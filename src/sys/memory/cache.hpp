// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>

namespace iio_stream::sys {

/// Writes the first word of every `step` bytes back from the CPU's caches to memory, on machines
/// whose DMA is not coherent. For tests, not for streams, because it can take milliseconds.
void write_caches_back(std::span<const std::byte> bytes, std::size_t step);

} // namespace iio_stream::sys
