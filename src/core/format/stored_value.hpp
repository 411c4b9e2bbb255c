// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/format.hpp"

#include <cstddef>
#include <cstdint>

namespace iio_stream::detail {

/// Stores a value as its scan type says: sign-extended, shifted, in its byte order.
void store_value(const ScanType& type, std::uint64_t value, std::byte* at) noexcept;
/// The storage bits as one number, in the machine's byte order.
std::uint64_t load_storage(const ScanType& type, const std::byte* at) noexcept;

} // namespace iio_stream::detail
