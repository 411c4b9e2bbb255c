// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace iio_stream::sys {

/// Returns the messages that the kernel has logged since this CLOCK_MONOTONIC time; nullopt if this
/// user cannot read them. The log's clock can differ from CLOCK_MONOTONIC by a millisecond.
std::optional<std::vector<std::string>> kernel_log_since(std::int64_t monotonic_ns);

} // namespace iio_stream::sys
