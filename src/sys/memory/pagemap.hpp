// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace iio_stream::sys {

/// The physical address at which the highest page of a mapping ends, from /proc/self/pagemap;
/// touches each page. nullopt if it is not visible: that takes CAP_SYS_ADMIN.
std::optional<std::uint64_t> highest_address(std::span<const std::byte> mapping);

} // namespace iio_stream::sys
