// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/format.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace iio_stream::detail {

/// Stores a value as its scan type says: sign-extended, shifted, in its byte order.
void store_value(const ScanType& type, std::uint64_t value, std::byte* at) noexcept;
/// The storage bits as one number, in the machine's byte order.
std::uint64_t load_storage(const ScanType& type, const std::byte* at) noexcept;
/// The bytes of a sample that is zero. Those of an I/Q pair of unsigned values are half scale,
/// since such pairs are offset binary: 128 of cu8. All others are 0.
std::vector<std::byte> zero_sample(const Format& format);

} // namespace iio_stream::detail
