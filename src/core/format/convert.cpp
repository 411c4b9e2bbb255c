// SPDX-License-Identifier: MIT
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

// Values are converted in pieces of a constant length, in local arrays, because GCC then vectorises
// the loop even at -O2.
constexpr std::size_t kAtOnce = 256;

// Whether all channels have the same type with no gaps between them and fit into one piece.
bool uniform(const Format& format)
{
    const ScanType& first = format.channels[0].type;
    return format.channels.size() <= kAtOnce && run_bytes(format) != 0 &&
           std::all_of(format.channels.begin(), format.channels.end(),
                       [&](const Channel& c) { return c.type == first; });
}

bool is_s16(const Format& format)
{
    const ScanType& type = format.channels[0].type;
    return uniform(format) && type.number == Number::signed_integer && !type.big_endian &&
           type.storage_bits == 16;
}

bool is_f32(const Format& format)
{
    return uniform(format) &&
           format.channels[0].type == ScanType{Number::floating, false, 32, 32, 0, 1};
}

bool is_whole_s16(const Format& format)
{
    return is_s16(format) && format.channels[0].type.bits == 16;
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

// Returns a function that shifts a value to the top of 16 bits. The sign bit of the value becomes
// the sign bit of the word, whatever other bits the word holds. The function multiplies, because a
// shift by a run-time amount is done in 32 bits and takes twice the vector code.
auto to_top(const ScanType& type)
{
    const auto factor = static_cast<std::uint16_t>(1U << (16 - type.bits - type.shift));
    const auto mask = static_cast<std::uint16_t>(0xffffU << (16 - type.bits));
    return [=](std::uint16_t raw) { return static_cast<std::uint16_t>(raw * factor & mask); };
}

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

// Converts samples of `values` values each; `values` is at most kAtOnce. The samples are in_step
// bytes apart in `in` and out_step bytes apart in `out`.
template <typename From, typename To, typename Each>
void convert_pieces(const std::byte* in, std::size_t in_step, std::byte* out, std::size_t out_step,
                    std::size_t samples, std::size_t values, Each each) noexcept
{
    const std::size_t at_once = kAtOnce / values;
    for (std::size_t n = 0; n < samples; n += at_once) {
        std::array<From, kAtOnce> raw;
        std::array<To, kAtOnce> made;
        const std::size_t count = std::min(at_once, samples - n);
        if (count * values < kAtOnce)
            raw = {}; // the rest is also converted, but ignored
        move_rows(reinterpret_cast<std::byte*>(raw.data()), values * sizeof(From), in + n * in_step,
                  in_step, count, values * sizeof(From));
        for (std::size_t k = 0; k < kAtOnce; ++k)
            made[k] = each(raw[k]);
        move_rows(out + n * out_step, out_step, reinterpret_cast<const std::byte*>(made.data()),
                  values * sizeof(To), count, values * sizeof(To));
    }
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

void Converter::choose() noexcept
{
    if (same_types(from_, to_) && run_bytes(from_) != 0 && run_bytes(to_) != 0)
        kernel_ = &copy;
    else if (same_types(from_, to_))
        kernel_ = &copy_channels;
    else if (is_s16(from_) && is_f32(to_))
        kernel_ = &s16_to_f32;
    else if (is_s16(from_) && is_whole_s16(to_))
        kernel_ = &s16_to_s16;
    else if (is_f32(from_) && is_s16(to_))
        kernel_ = &f32_to_s16;
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

// Converts every value of every sample: as one row if the samples are adjacent, otherwise sample by
// sample.
template <typename From, typename To, typename Each>
void Converter::each_value(const std::byte* in, std::byte* out, std::size_t samples,
                           Each each) const noexcept
{
    const std::size_t values = from_.channels.size();
    const std::size_t in_step = from_.sample_bytes, out_step = to_.sample_bytes;
    if (in_step == values * sizeof(From) && out_step == values * sizeof(To))
        return convert_pieces<From, To>(in, sizeof(From), out, sizeof(To), samples * values, 1,
                                        each);
    in += from_.channels[0].offset;
    out += to_.channels[0].offset;
    convert_pieces<From, To>(in, in_step, out, out_step, samples, values, each);
}

void Converter::s16_to_f32(const Converter& self, const std::byte* in, std::byte* out,
                           std::size_t samples) noexcept
{
    self.each_value<std::uint16_t, float>(
        in, out, samples, [top = to_top(self.from_.channels[0].type)](std::uint16_t raw) {
            return static_cast<float>(static_cast<std::int16_t>(top(raw))) * 0x1p-15F;
        });
}

void Converter::s16_to_s16(const Converter& self, const std::byte* in, std::byte* out,
                           std::size_t samples) noexcept
{
    self.each_value<std::uint16_t, std::uint16_t>(in, out, samples,
                                                  to_top(self.from_.channels[0].type));
}

void Converter::f32_to_s16(const Converter& self, const std::byte* in, std::byte* out,
                           std::size_t samples) noexcept
{
    const ScanType& type = self.to_.channels[0].type;
    const float full = std::ldexp(1.0F, static_cast<int>(type.bits) - 1);
    const std::int32_t factor = 1 << type.shift; // a product, as in to_top()
    self.each_value<float, std::int16_t>(in, out, samples, [full, factor](float real) {
        float value = real * full; // exact, as are its integer and fractional parts
        value = value > -full ? value : (value == value ? -full : 0.0F); // NaN: no signal
        value = value < full - 1 ? value : full - 1;
        const auto whole = static_cast<std::int32_t>(value);
        const float rest = value - static_cast<float>(whole);
        // Rounds to nearest, ties upwards.
        const std::int32_t nearest = whole + (rest >= 0.5F ? 1 : 0) - (rest < -0.5F ? 1 : 0);
        return static_cast<std::int16_t>(nearest * factor);
    });
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
