// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace iio_stream::framing {

/// CRC-32C (Castagnoli), as in iSCSI and ext4: by the processor's instruction if it has one.
std::uint32_t crc32c(std::span<const std::byte> bytes) noexcept;

/// The same by tables, on any processor.
std::uint32_t crc32c_by_tables(std::span<const std::byte> bytes) noexcept;

} // namespace iio_stream::framing
