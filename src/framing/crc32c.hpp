// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace iio_stream::framing {

/// Computes the CRC-32C (Castagnoli), as in iSCSI and ext4, with the processor's instruction if it
/// has one.
std::uint32_t crc32c(std::span<const std::byte> bytes) noexcept;

/// The same with tables, on any processor.
std::uint32_t crc32c_by_tables(std::span<const std::byte> bytes) noexcept;

} // namespace iio_stream::framing
