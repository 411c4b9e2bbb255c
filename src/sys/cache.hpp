// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>

namespace iio_stream::sys {

/// Brings the first word of every `step` bytes from the CPU's caches to memory, on machines whose
/// DMA does not look into them; for tests, not for a stream: it may take milliseconds.
void write_caches_back(std::span<const std::byte> bytes, std::size_t step);

} // namespace iio_stream::sys
