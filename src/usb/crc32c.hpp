// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace iio_stream::usb {

/// CRC-32C (Castagnoli), as iSCSI and ext4 have it: by the processor's instruction where it has
/// one.
std::uint32_t crc32c(std::span<const std::byte> bytes) noexcept;

/// The same by tables, whatever the processor has.
std::uint32_t crc32c_by_tables(std::span<const std::byte> bytes) noexcept;

} // namespace iio_stream::usb
