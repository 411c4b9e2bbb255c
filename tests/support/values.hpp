// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/format.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

// Scan types as the kernel's documentation defines them, byte by byte and bit by bit. This code is
// slow, and it is independent of the library's code.
namespace iio_stream::test {

/// Returns the storage as one number.
inline std::uint64_t storage_of(const ScanType& type, const std::byte* at)
{
    std::uint64_t raw = 0;
    const unsigned bytes = type.storage_bits / 8;
    for (unsigned i = 0; i < bytes; ++i)
        raw = raw << 8 | std::to_integer<std::uint64_t>(at[type.big_endian ? i : bytes - 1 - i]);
    return raw;
}

/// Returns an integer: shifted, masked and sign-extended.
inline std::int64_t integer_of(const ScanType& type, const std::byte* at)
{
    std::uint64_t raw = storage_of(type, at) >> type.shift;
    if (type.bits < 64)
        raw &= (std::uint64_t{1} << type.bits) - 1;
    if (type.number == ScanType::Number::signed_integer && type.bits < 64 &&
        (raw >> (type.bits - 1) & 1) != 0)
        raw |= ~std::uint64_t{0} << type.bits;
    return static_cast<std::int64_t>(raw);
}

/// Returns any value as a fraction of its full scale. The zero of offset binary is at half scale.
inline long double real_of(const ScanType& type, const std::byte* at)
{
    if (type.number == ScanType::Number::floating) {
        const std::uint64_t raw = storage_of(type, at);
        const auto narrow = static_cast<std::uint32_t>(raw);
        float f;
        double d;
        std::memcpy(&f, &narrow, 4);
        std::memcpy(&d, &raw, 8);
        return type.bits == 32 ? static_cast<long double>(f) : static_cast<long double>(d);
    }
    const long double full_scale = std::ldexp(1.0L, static_cast<int>(type.bits) - 1);
    const std::int64_t value = integer_of(type, at);
    if (type.number == ScanType::Number::signed_integer)
        return static_cast<long double>(value) / full_scale;
    return (static_cast<long double>(static_cast<std::uint64_t>(value)) - full_scale) / full_scale;
}

/// Converts a fraction of full scale to an integer: rounded to the nearest, halves up, and
/// saturated. Offset binary values have no offset here.
inline std::int64_t quantised(const ScanType& type, long double real)
{
    const long double full_scale = std::ldexp(1.0L, static_cast<int>(type.bits) - 1);
    const long double value = std::floor(real * full_scale + 0.5L);
    return static_cast<std::int64_t>(std::clamp(value, -full_scale, full_scale - 1));
}

/// Whether `out` holds the value to which the value in `in` must be converted.
inline bool is_converted(const ScanType& from, const std::byte* in, const ScanType& to,
                         const std::byte* out)
{
    using Number = ScanType::Number;
    const long double given = real_of(from, in), found = real_of(to, out);
    if (to.number != Number::floating) {
        const std::int64_t wanted = std::isnan(given) ? 0 : quantised(to, given);
        std::uint64_t raw = static_cast<std::uint64_t>(integer_of(to, out));
        if (to.number == Number::unsigned_integer)
            raw -= std::uint64_t{1} << (to.bits - 1);
        return static_cast<std::int64_t>(raw) == wanted;
    }
    if (std::isnan(given))
        return std::isnan(found);
    const long double wanted = to.bits == 32 ? static_cast<long double>(static_cast<float>(given))
                                             : static_cast<long double>(static_cast<double>(given));
    // Integers of more than 53 bits can be rounded twice, by way of a double.
    const bool twice = from.number != Number::floating && from.bits > 53 && to.bits == 32;
    return twice ? std::abs(found - wanted) <= std::abs(wanted) * 0x1p-23L : found == wanted;
}

} // namespace iio_stream::test
