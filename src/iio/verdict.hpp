// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/memory.hpp"

#include <optional>
#include <string>

namespace iio_stream::iio {

/// What `doctor --probe` found best for a device, kept for memory=auto to follow.
struct Verdict {
    Memory memory;
    std::string reason;
};

/// The verdict on a device, if there is one from the running kernel.
std::optional<Verdict> load_verdict(const std::string& device);
/// Replaces it; tells the file that it went to.
std::string store_verdict(const std::string& device, const Verdict& verdict);

} // namespace iio_stream::iio
