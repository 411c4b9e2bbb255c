// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/format.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace iio_stream::detail {

/// Stores a value as its scan type specifies: sign-extended, shifted, and in the byte order of the
/// type.
void store_value(const ScanType& type, std::uint64_t value, std::byte* at) noexcept;
/// Returns the storage bits as one number, in the machine's byte order.
std::uint64_t load_storage(const ScanType& type, const std::byte* at) noexcept;
/// The bytes of a sample that is zero. Unsigned values of an I/Q pair are half scale (128 for cu8),
/// because such pairs are offset binary. All other values are 0.
std::vector<std::byte> zero_sample(const Format& format);

} // namespace iio_stream::detail
