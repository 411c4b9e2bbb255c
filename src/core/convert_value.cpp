// SPDX-License-Identifier: MIT
#include "core/convert_value.hpp"

#include "core/pattern.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace iio_stream::detail {

namespace {

using ValueKind = ScanType::Number;

// An integer channel's value as a signed number with a full scale of 2^63.
std::int64_t load_integer(const ScanType& type, const std::byte* at)
{
    const std::uint64_t raw = load_storage(type, at) >> type.shift << (64 - type.bits);
    const std::uint64_t offset =
        type.number == ValueKind::unsigned_integer ? std::uint64_t{1} << 63 : 0;
    return static_cast<std::int64_t>(raw ^ offset); // offset binary becomes two's complement
}

double load_real(const ScanType& type, const std::byte* at)
{
    const std::uint64_t raw = load_storage(type, at);
    return type.bits == 64 ? std::bit_cast<double>(raw)
                           : double{std::bit_cast<float>(static_cast<std::uint32_t>(raw))};
}

void store_integer(const ScanType& type, std::int64_t value, std::byte* at)
{
    const unsigned drop = 64 - type.bits;
    if (drop != 0) {
        const std::int64_t half = std::int64_t{1} << (drop - 1);
        if (value > INT64_MAX - half)
            value = INT64_MAX; // rounding up would wrap: saturate
        else
            value += half;
    }
    std::uint64_t raw = static_cast<std::uint64_t>(value) >> drop;
    if (type.number == ValueKind::unsigned_integer)
        raw ^= std::uint64_t{1} << (type.bits - 1);
    store_value(type, raw, at);
}

void store_real(const ScanType& type, double value, std::byte* at)
{
    const std::uint64_t raw = type.bits == 64
                                  ? std::bit_cast<std::uint64_t>(value)
                                  : std::bit_cast<std::uint32_t>(static_cast<float>(value));
    store_value(type, raw, at);
}

} // namespace

void convert_value(const ScanType& from, const std::byte* in, const ScanType& to, std::byte* out)
{
    const bool from_real = from.number == ValueKind::floating;
    const bool to_real = to.number == ValueKind::floating;
    if (from_real && to_real)
        return store_real(to, load_real(from, in), out);
    if (!from_real && !to_real)
        return store_integer(to, load_integer(from, in), out);
    if (to_real)
        return store_real(to, std::ldexp(static_cast<double>(load_integer(from, in)), -63), out);
    const double real = load_real(from, in);
    // NaN becomes 0: as an integer it could be anything.
    const double scaled = std::isnan(real) ? 0.0 : std::ldexp(std::clamp(real, -1.0, 1.0), 63);
    // Round down, not towards 0: a value just past the midpoint must not become a tie, which
    // store_integer() would round the other way.
    const double whole = to.bits == 64 ? std::round(scaled) : std::floor(scaled);
    store_integer(to, whole >= 0x1p63 ? INT64_MAX : static_cast<std::int64_t>(whole), out);
}

} // namespace iio_stream::detail
