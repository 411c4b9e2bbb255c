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
/// Stores the preferred memory of a device in place of an earlier one. Returns the name of the
/// file.
std::string store_preferred_memory(const std::string& device, const PreferredMemory& preferred);

} // namespace iio_stream::iio
