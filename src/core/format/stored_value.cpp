// SPDX-License-Identifier: MIT
#include "core/format/stored_value.hpp"

#include <bit>
#include <cstring>

namespace iio_stream::detail {

namespace {

static_assert(std::endian::native == std::endian::little, "the stores below are little-endian");

std::uint64_t swap_bytes(std::uint64_t value, unsigned bits)
{
    return __builtin_bswap64(value) >> (64 - bits);
}

} // namespace

void store_value(const ScanType& type, std::uint64_t value, std::byte* at) noexcept
{
    std::uint64_t raw = value;
    if (type.number == ScanType::Number::signed_integer && type.bits < 64) {
        const unsigned unused = 64 - type.bits;
        raw = static_cast<std::uint64_t>(static_cast<std::int64_t>(raw << unused) >> unused);
    }
    raw <<= type.shift;
    if (type.big_endian)
        raw = swap_bytes(raw, type.storage_bits);
    for (unsigned i = 0; i < type.repeat; ++i)
        std::memcpy(at + i * (type.storage_bits / 8), &raw, type.storage_bits / 8);
}

std::uint64_t load_storage(const ScanType& type, const std::byte* at) noexcept
{
    std::uint64_t raw = 0;
    std::memcpy(&raw, at, type.storage_bits / 8);
    return type.big_endian ? swap_bytes(raw, type.storage_bits) : raw;
}

std::vector<std::byte> zero_sample(const Format& format)
{
    std::vector<std::byte> zero(format.sample_bytes);
    for (const Channel& channel : format.channels)
        if (channel.type.number == ScanType::Number::unsigned_integer &&
            (channel.component == Component::in_phase ||
             channel.component == Component::quadrature))
            store_value(channel.type, std::uint64_t{1} << (channel.type.bits - 1),
                        zero.data() + channel.offset);
    return zero;
}

} // namespace iio_stream::detail
