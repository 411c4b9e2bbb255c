// SPDX-License-Identifier: MIT
#include "core/format/convert_values.hpp"
#include "core/format/stored_value.hpp"
#include "iio_stream/error.hpp"
#include "iio_stream/format.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace iio_stream {

namespace {

using Number = ScanType::Number;

// An integer channel's value as a signed number with a full scale of 2^63.
std::int64_t load_integer(const ScanType& type, const std::byte* at)
{
    const std::uint64_t raw = detail::load_storage(type, at) >> type.shift << (64 - type.bits);
    const std::uint64_t offset =
        type.number == Number::unsigned_integer ? std::uint64_t{1} << 63 : 0;
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

// Converts one value between any two scan types, full scale to full scale. Integers are rounded to
// nearest (ties up) and saturate. Before a floating-point value becomes an integer, it is clamped
// to [-1, 1], and NaN becomes 0.
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
    // NaN becomes 0, because its conversion to an integer is undefined.
    const double scaled = std::isnan(real) ? 0.0 : std::ldexp(std::clamp(real, -1.0, 1.0), 63);
    // Round down, not towards 0: a value just past the midpoint must not become a tie, which
    // store_integer() would round the other way.
    const double whole = to.bits == 64 ? std::round(scaled) : std::floor(scaled);
    store_integer(to, whole >= 0x1p63 ? INT64_MAX : static_cast<std::int64_t>(whole), out);
}

// The bytes of a sample's values if they are contiguous; otherwise 0.
std::size_t run_bytes(const Format& format)
{
    std::size_t end = format.channels[0].offset;
    for (const Channel& channel : format.channels) {
        if (channel.offset != end)
            return 0;
        end += channel.type.bytes();
    }
    return end - format.channels[0].offset;
}

// Whether all channels have the same type with no gaps between them and fit into one call of a
// ValueConverter.
bool uniform(const Format& format)
{
    const ScanType& first = format.channels[0].type;
    return format.channels.size() <= detail::kValuesAtOnce && run_bytes(format) != 0 &&
           std::all_of(format.channels.begin(), format.channels.end(),
                       [&](const Channel& c) { return c.type == first; });
}

bool same_types(const Format& a, const Format& b)
{
    return std::equal(a.channels.begin(), a.channels.end(), b.channels.begin(), b.channels.end(),
                      [](const Channel& x, const Channel& y) { return x.type == y.type; });
}

void refuse_repeated(const Format& format, std::string_view to)
{
    for (const Channel& channel : format.channels)
        if (channel.type.repeat != 1)
            fail_usage("convert=" + std::string(to) + ": channel " + channel.id +
                       " has repeated values (" + channel.type.text() + ")");
}

/// The values of one call of a ValueConverter, which have at most 4 bytes each.
using Piece = std::array<std::byte, detail::kValuesAtOnce * 4>;

// Copies rows of `bytes` bytes each. The rows are from_step bytes apart in `from` and to_step bytes
// apart in `to`.
void move_rows(std::byte* to, std::size_t to_step, const std::byte* from, std::size_t from_step,
               std::size_t rows, std::size_t bytes) noexcept
{
    const auto move = [&](auto size) {
        for (std::size_t n = 0; n < rows; ++n)
            std::memcpy(to + n * to_step, from + n * from_step, size);
    };
    if (to_step == bytes && from_step == bytes)
        std::memcpy(to, from, rows * bytes);
    else if (bytes == 2)
        move(std::integral_constant<std::size_t, 2>());
    else if (bytes == 4) // a pair of 16-bit values: one load and one store
        move(std::integral_constant<std::size_t, 4>());
    else if (bytes == 8)
        move(std::integral_constant<std::size_t, 8>());
    else
        move(bytes);
}

} // namespace

Converter::Converter(const Format& from, std::string_view to) : from_(from), kernel_(&general)
{
    const bool complex = to.starts_with('c');
    if (complex && !from.is_complex())
        fail_usage("convert=" + std::string(to) + ": the channels are not I/Q pairs",
                   "real formats begin with r");
    refuse_repeated(from, to);
    const std::size_t count = from.channels.size();
    to_ = Format::parse(to, std::to_string(count));
    to_.sample_rate = from.sample_rate;
    for (std::size_t i = 0; i < count; ++i) {
        const ScanType type = to_.channels[i].type;
        to_.channels[i] = from.channels[i];
        to_.channels[i].type = type;
    }
    to_.lay_out();
    choose();
}

Converter::Converter(const Format& from, const Format& to) : from_(from), to_(to), kernel_(&general)
{
    if (from.channels.size() != to.channels.size() || from.channels.empty())
        fail_usage(std::to_string(from.channels.size()) + " channels cannot become " +
                   std::to_string(to.channels.size()));
    if (!same_types(from, to)) {
        refuse_repeated(from, to.name());
        refuse_repeated(to, to.name());
    }
    choose();
}

void Converter::choose()
{
    if (same_types(from_, to_) && run_bytes(from_) != 0 && run_bytes(to_) != 0)
        kernel_ = &copy;
    else if (same_types(from_, to_))
        kernel_ = &copy_channels;
    else if (uniform(from_) && uniform(to_)) {
        const ScanType &from = from_.channels[0].type, &to = to_.channels[0].type;
        const auto values = detail::ValueConverter::create(from, to, detail::has_avx2());
        if (!values)
            return;
        values_ = std::make_shared<detail::ValueConverter>(*values);
        const std::size_t channels = from_.channels.size();
        const bool packed = from_.sample_bytes == channels * from.bytes() &&
                            to_.sample_bytes == channels * to.bytes();
        kernel_ = packed ? &adjacent : &apart;
    }
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

// Converts samples that have no bytes but their values.
void Converter::adjacent(const Converter& self, const std::byte* in, std::byte* out,
                         std::size_t samples) noexcept
{
    const std::size_t in_bytes = self.from_.channels[0].type.bytes();
    const std::size_t out_bytes = self.to_.channels[0].type.bytes();
    std::size_t left = samples * self.from_.channels.size();
    for (; left >= detail::kValuesAtOnce; left -= detail::kValuesAtOnce) {
        self.values_->convert(in, out);
        in += detail::kValuesAtOnce * in_bytes;
        out += detail::kValuesAtOnce * out_bytes;
    }
    if (left == 0)
        return;
    Piece some{}, made;
    std::memcpy(some.data(), in, left * in_bytes);
    self.values_->convert(some.data(), made.data());
    std::memcpy(out, made.data(), left * out_bytes);
}

// Converts samples whose values are part of a larger sample in at least one of the two formats.
void Converter::apart(const Converter& self, const std::byte* in, std::byte* out,
                      std::size_t samples) noexcept
{
    const std::size_t in_bytes = run_bytes(self.from_), out_bytes = run_bytes(self.to_);
    const std::size_t in_step = self.from_.sample_bytes, out_step = self.to_.sample_bytes;
    const std::size_t at_once = detail::kValuesAtOnce / self.from_.channels.size();
    in += self.from_.channels[0].offset;
    out += self.to_.channels[0].offset;
    Piece some{}, made; // values that a piece does not fill are also converted, but ignored
    for (std::size_t n = 0; n < samples; n += at_once) {
        const std::size_t count = std::min(at_once, samples - n);
        move_rows(some.data(), in_bytes, in + n * in_step, in_step, count, in_bytes);
        self.values_->convert(some.data(), made.data());
        move_rows(out + n * out_step, out_step, made.data(), out_bytes, count, out_bytes);
    }
}

void Converter::copy(const Converter& self, const std::byte* in, std::byte* out,
                     std::size_t samples) noexcept
{
    move_rows(out + self.to_.channels[0].offset, self.to_.sample_bytes,
              in + self.from_.channels[0].offset, self.from_.sample_bytes, samples,
              run_bytes(self.from_));
}

// Copies the values channel by channel. They are not contiguous in at least one of the two formats.
void Converter::copy_channels(const Converter& self, const std::byte* in, std::byte* out,
                              std::size_t samples) noexcept
{
    for (std::size_t i = 0; i < self.from_.channels.size(); ++i)
        move_rows(out + self.to_.channels[i].offset, self.to_.sample_bytes,
                  in + self.from_.channels[i].offset, self.from_.sample_bytes, samples,
                  self.from_.channels[i].type.bytes());
}

} // namespace iio_stream
