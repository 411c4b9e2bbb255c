// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace iio_stream::sys {

/// The end of the highest page behind a mapping, as a physical address, by /proc/self/pagemap; each
/// page is read from. nullopt where that is not to be seen: it takes CAP_SYS_ADMIN.
std::optional<std::uint64_t> highest_address(std::span<const std::byte> mapping);

} // namespace iio_stream::sys
