// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace iio_stream::sys {

/// Returns the physical address at which the highest page of a mapping ends, from
/// /proc/self/pagemap. Reads from each page first. Returns nullopt if the address is not visible,
/// which requires CAP_SYS_ADMIN.
std::optional<std::uint64_t> highest_address(std::span<const std::byte> mapping);

} // namespace iio_stream::sys
