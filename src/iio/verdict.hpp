// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/memory.hpp"

#include <optional>
#include <string>

namespace iio_stream::iio {

/// What `doctor --probe` found best for a device, stored for memory=auto.
struct Verdict {
    Memory memory;
    std::string reason;
};

/// The verdict on a device, if one was stored under the running kernel.
std::optional<Verdict> load_verdict(const std::string& device);
/// Replaces it; returns the file it was written to.
std::string store_verdict(const std::string& device, const Verdict& verdict);

} // namespace iio_stream::iio
