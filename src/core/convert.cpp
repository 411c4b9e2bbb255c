// SPDX-License-Identifier: MIT
#include "iio_stream/format.hpp"

#include "core/pattern.hpp"
#include "iio_stream/error.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace iio_stream {

namespace {

using Number = ScanType::Number;

// An integer channel's value as a signed number whose full scale is 2^63.
std::int64_t load_integer(const ScanType& type, const std::byte* at)
{
    const std::uint64_t raw = detail::load_storage(type, at) >> type.shift << (64 - type.bits);
    const std::uint64_t offset = type.number == Number::unsigned_integer ? std::uint64_t{1} << 63 : 0;
    return static_cast<std::int64_t>(raw ^ offset); // offset binary becomes two's complement
}

double load_real(const ScanType& type, const std::byte* at)
{
    const std::uint64_t raw = detail::load_storage(type, at);
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
    if (type.number == Number::unsigned_integer)
        raw ^= std::uint64_t{1} << (type.bits - 1);
    detail::store_value(type, raw, at);
}

void store_real(const ScanType& type, double value, std::byte* at)
{
    const std::uint64_t raw = type.bits == 64
                                  ? std::bit_cast<std::uint64_t>(value)
                                  : std::bit_cast<std::uint32_t>(static_cast<float>(value));
    detail::store_value(type, raw, at);
}

void convert_value(const ScanType& from, const std::byte* in, const ScanType& to, std::byte* out)
{
    const bool from_real = from.number == Number::floating;
    const bool to_real = to.number == Number::floating;
    if (from_real && to_real)
        return store_real(to, load_real(from, in), out);
    if (!from_real && !to_real)
        return store_integer(to, load_integer(from, in), out);
    if (to_real)
        return store_real(to, std::ldexp(static_cast<double>(load_integer(from, in)), -63), out);
    const double real = load_real(from, in);
    // No number at all is no signal either; as an integer it would be anything.
    const double scaled = std::isnan(real) ? 0.0 : std::ldexp(std::clamp(real, -1.0, 1.0), 63);
    store_integer(to, scaled >= 0x1p63 ? INT64_MAX : static_cast<std::int64_t>(scaled), out);
}

bool dense(const Format& format)
{
    std::size_t bytes = 0;
    for (const Channel& channel : format.channels)
        bytes += channel.type.bytes();
    return bytes == format.sample_bytes;
}

} // namespace

Converter::Converter(const Format& from, std::string_view to) : from_(from), kernel_(&general)
{
    const bool complex = to.starts_with('c');
    if (complex && !from.is_complex())
        fail_usage("convert=" + std::string(to) + ": the channels are not I/Q pairs",
                   "a real format begins with r");
    const std::size_t count = from.channels.size();
    to_ = Format::parse(to, std::to_string(count));
    to_.sample_rate = from.sample_rate;
    for (std::size_t i = 0; i < count; ++i) {
        if (from.channels[i].type.repeat != 1)
            fail_usage("convert=" + std::string(to) + ": channel " + from.channels[i].id +
                       " has repeated values (" + from.channels[i].type.text() + ")");
        const ScanType type = to_.channels[i].type;
        to_.channels[i] = from.channels[i];
        to_.channels[i].type = type;
    }
    to_.lay_out();

    const ScanType f32{Number::floating, false, 32, 32, 0, 1};
    const auto all = [](const Format& format, auto&& is) {
        return std::all_of(format.channels.begin(), format.channels.end(), is) && dense(format);
    };
    const ScanType& first = from_.channels[0].type;
    const bool in_s16 = first.number == Number::signed_integer && !first.big_endian &&
                        first.storage_bits == 16 &&
                        all(from_, [&](const Channel& c) { return c.type == first; });
    if (in_s16 && all(to_, [&](const Channel& c) { return c.type == f32; }))
        kernel_ = &s16_to_f32;
    else if (from_.name() == to_.name())
        kernel_ = &copy;
}

void Converter::convert(std::span<const std::byte> in, std::span<std::byte> out) const noexcept
{
    kernel_(*this, in.data(), out.data(), in.size() / from_.sample_bytes);
}

void Converter::general(const Converter& self, const std::byte* in, std::byte* out,
                        std::size_t samples) noexcept
{
    const std::size_t channels = self.from_.channels.size();
    for (std::size_t n = 0; n < samples; ++n) {
        for (std::size_t i = 0; i < channels; ++i) {
            const Channel& from = self.from_.channels[i];
            const Channel& to = self.to_.channels[i];
            convert_value(from.type, in + from.offset, to.type, out + to.offset);
        }
        in += self.from_.sample_bytes;
        out += self.to_.sample_bytes;
    }
}

// The common case, in pieces of a known length in arrays of their own: of such a loop GCC makes vector
// code at -O2, too.
void Converter::s16_to_f32(const Converter& self, const std::byte* in, std::byte* out,
                           std::size_t samples) noexcept
{
    constexpr std::size_t kAtOnce = 64;
    const std::size_t values = samples * self.from_.channels.size();
    // The value to the top of its 16 bits: its sign is then theirs, whatever lies above it in memory.
    const ScanType& type = self.from_.channels[0].type;
    const unsigned down = type.shift, up = 16 - type.bits;
    for (std::size_t i = 0; i < values; i += kAtOnce) {
        std::array<std::uint16_t, kAtOnce> raw;
        std::array<float, kAtOnce> scaled;
        const std::size_t count = std::min(kAtOnce, values - i);
        if (count < kAtOnce)
            raw = {}; // the rest of it is converted, too, and not looked at
        std::memcpy(raw.data(), in + 2 * i, 2 * count);
        for (std::size_t k = 0; k < kAtOnce; ++k)
            scaled[k] = static_cast<float>(static_cast<std::int16_t>(raw[k] >> down << up)) * 0x1p-15F;
        std::memcpy(out + 4 * i, scaled.data(), 4 * count);
    }
}

void Converter::copy(const Converter& self, const std::byte* in, std::byte* out,
                     std::size_t samples) noexcept
{
    std::memcpy(out, in, samples * self.from_.sample_bytes);
}

} // namespace iio_stream
