// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/memory.hpp"

#include <optional>
#include <string>

namespace iio_stream::iio {

/// The memory that `doctor --probe` recommends for a device, stored for memory=auto.
struct PreferredMemory {
    Memory memory;
    std::string reason;
};

/// The preferred memory of a device, if one was stored under the running kernel.
std::optional<PreferredMemory> load_preferred_memory(const std::string& device);
/// Replaces the stored one; returns the file it was written to.
std::string store_preferred_memory(const std::string& device, const PreferredMemory& preferred);

} // namespace iio_stream::iio
