// SPDX-License-Identifier: MIT
#include "core/format/convert_values.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#if defined(__x86_64__) || defined(__i386__)
#define IIO_STREAM_HAS_AVX2
#endif

namespace iio_stream::detail {

namespace {

using Number = ScanType::Number;
using Constants = ValueConverter::Constants;
using Step = ValueConverter::Step;

constexpr std::uint32_t kTop = 0x80000000;

template <typename T>
[[gnu::always_inline]] inline T swapped(T value)
{
    if constexpr (sizeof(T) == 2)
        return static_cast<T>(__builtin_bswap16(value));
    else
        return __builtin_bswap32(value);
}

// Returns the integer nearest to `real` times `full`, ties up, saturated. NaN becomes 0.
template <bool kAvx2>
[[gnu::always_inline]] inline std::int32_t rounded(float real, float full)
{
    float value = real * full; // exact
    value = value == value ? value : 0.0F;
    value = value > -full ? value : -full;
    value = value < full - 1 ? value : full - 1;
    if constexpr (kAvx2) {
        const float whole = __builtin_rintf(value); // ties to even, in one instruction
        return static_cast<std::int32_t>(whole + (value - whole == 0.5F ? 1.0F : 0.0F));
    } else {
        const auto whole = static_cast<std::int32_t>(value);
        const float rest = value - static_cast<float>(whole);
        return whole + (rest >= 0.5F ? 1 : 0) - (rest < -0.5F ? 1 : 0);
    }
}

// The loops below have a constant length, so that GCC vectorizes them even at -O2. Clang unrolls
// them without being told.
#ifdef __clang__
#define IIO_STREAM_UNROLL
#else
#define IIO_STREAM_UNROLL _Pragma("GCC unroll 4")
#endif

template <typename T>
[[gnu::always_inline]] inline void swap_all(const std::byte* __restrict in,
                                            std::byte* __restrict out)
{
    IIO_STREAM_UNROLL
    for (std::size_t k = 0; k < kValuesAtOnce; ++k) {
        T value;
        std::memcpy(&value, in + k * sizeof value, sizeof value);
        value = swapped(value);
        std::memcpy(out + k * sizeof value, &value, sizeof value);
    }
}

/// How the number is stored that becomes a float.
enum class Stored {
    whole, ///< signed, in all bits
    low,   ///< signed, in the lowest bits
    any
};

// Makes floats of integers. The stored bits that are not significant have any value.
template <typename In, Stored kStored>
[[gnu::always_inline]] inline void
make_floats(const Constants& constants, const std::byte* __restrict in, std::byte* __restrict out)
{
    const Constants c = constants;
    IIO_STREAM_UNROLL
    for (std::size_t k = 0; k < kValuesAtOnce; ++k) {
        In raw;
        std::memcpy(&raw, in + k * sizeof raw, sizeof raw);
        std::int32_t value;
        if constexpr (kStored == Stored::whole)
            value = static_cast<std::make_signed_t<In>>(raw);
        else if constexpr (kStored == Stored::low)
            value = static_cast<std::int32_t>(static_cast<std::uint32_t>(raw) << c.up);
        else
            value = static_cast<std::int32_t>(
                (static_cast<std::uint32_t>(raw) << c.up & c.mask_in) ^ c.flip_in);
        constexpr unsigned kBits = kStored == Stored::whole ? 8 * sizeof raw : 32;
        constexpr float kStep = 1.0F / static_cast<float>(std::uint32_t{1} << (kBits - 1));
        const float result = static_cast<float>(value) * kStep;
        std::memcpy(out + k * sizeof result, &result, sizeof result);
    }
}

// Makes integers of 16 significant bits from integers that have at most as many.
template <typename In>
[[gnu::always_inline]] inline void
make_16_bits(const Constants& constants, const std::byte* __restrict in, std::byte* __restrict out)
{
    // A multiplication shifts a vector of 16-bit values without making them wider first.
    const auto factor = static_cast<std::uint16_t>(std::uint32_t{1} << constants.up >> 16);
    const auto mask = static_cast<std::uint16_t>(constants.mask_in >> 16);
    const auto flip =
        static_cast<std::uint16_t>(constants.flip_in >> 16 ^ (constants.flip_out & 0xffff));
    IIO_STREAM_UNROLL
    for (std::size_t k = 0; k < kValuesAtOnce; ++k) {
        In raw;
        std::memcpy(&raw, in + k * sizeof raw, sizeof raw);
        const auto result = static_cast<std::uint16_t>((std::uint32_t{raw} * factor & mask) ^ flip);
        std::memcpy(out + k * sizeof result, &result, sizeof result);
    }
}

// Converts to integers. `kWhole`: the result is a signed number at bit 0, whose sign may fill the
// storage.
template <typename In, typename Out, bool kWhole, bool kAvx2>
[[gnu::always_inline]] inline void
change_all(const Constants& constants, const std::byte* __restrict in, std::byte* __restrict out)
{
    const Constants c = constants;
    const std::int32_t most = INT32_MAX - c.half;
    IIO_STREAM_UNROLL
    for (std::size_t k = 0; k < kValuesAtOnce; ++k) {
        std::conditional_t<std::is_same_v<In, float>, std::uint32_t, In> raw;
        std::memcpy(&raw, in + k * sizeof raw, sizeof raw);
        std::uint32_t value;
        if constexpr (std::is_same_v<In, float>)
            value = static_cast<std::uint32_t>(rounded<kAvx2>(std::bit_cast<float>(raw), c.full));
        else
            value = (static_cast<std::uint32_t>(raw) << c.up & c.mask_in) ^ c.flip_in;
        if constexpr (!std::is_same_v<In, float>) {
            const auto number = static_cast<std::int32_t>(value);
            const std::int32_t rounded = (number < most ? number : most) + c.half;
            value = static_cast<std::uint32_t>(rounded >> c.down);
        }
        if constexpr (!kWhole)
            value = ((value ^ c.flip_out) & c.mask_out) << c.place;
        const auto result = static_cast<Out>(value);
        std::memcpy(out + k * sizeof result, &result, sizeof result);
    }
}

// The same steps, compiled for any processor and for those with AVX2.
struct Plain {
    template <typename T>
    static void swap(const Constants&, const std::byte* in, std::byte* out) noexcept
    {
        swap_all<T>(in, out);
    }
    template <typename In, Stored kStored>
    static void floats(const Constants& c, const std::byte* in, std::byte* out) noexcept
    {
        make_floats<In, kStored>(c, in, out);
    }
    template <typename In>
    static void words(const Constants& c, const std::byte* in, std::byte* out) noexcept
    {
        make_16_bits<In>(c, in, out);
    }
    template <typename In, typename Out, bool kWhole>
    static void change(const Constants& c, const std::byte* in, std::byte* out) noexcept
    {
        change_all<In, Out, kWhole, false>(c, in, out);
    }
};

#ifdef IIO_STREAM_HAS_AVX2
struct Avx2 {
    template <typename T>
    [[gnu::target("avx2")]] static void swap(const Constants&, const std::byte* in,
                                             std::byte* out) noexcept
    {
        swap_all<T>(in, out);
    }
    template <typename In, Stored kStored>
    [[gnu::target("avx2")]] static void floats(const Constants& c, const std::byte* in,
                                               std::byte* out) noexcept
    {
        make_floats<In, kStored>(c, in, out);
    }
    template <typename In>
    [[gnu::target("avx2")]] static void words(const Constants& c, const std::byte* in,
                                              std::byte* out) noexcept
    {
        make_16_bits<In>(c, in, out);
    }
    template <typename In, typename Out, bool kWhole>
    [[gnu::target("avx2")]] static void change(const Constants& c, const std::byte* in,
                                               std::byte* out) noexcept
    {
        change_all<In, Out, kWhole, true>(c, in, out);
    }
};
#else
using Avx2 = Plain;
#endif

template <typename Steps>
Step swap_step(const ScanType& type)
{
    if (type.big_endian == (std::endian::native == std::endian::big))
        return nullptr;
    return type.storage_bits == 16   ? &Steps::template swap<std::uint16_t>
           : type.storage_bits == 32 ? &Steps::template swap<std::uint32_t>
                                     : nullptr;
}

// Calls `use` with a value of the type that stores a scan type. Returns null if there is none.
template <typename Use>
Step with_stored_type(const ScanType& type, Use use)
{
    if (type.number == Number::floating)
        return type.bits == 32 ? use(float{}) : nullptr;
    switch (type.storage_bits) {
    case 8:
        return use(std::uint8_t{});
    case 16:
        return use(std::uint16_t{});
    case 32:
        return use(std::uint32_t{});
    default:
        return nullptr;
    }
}

template <typename Steps, typename In>
Step float_step(const ScanType& from)
{
    const bool low = from.number == Number::signed_integer && from.shift == 0;
    return low && from.bits == from.storage_bits ? &Steps::template floats<In, Stored::whole>
           : low                                 ? &Steps::template floats<In, Stored::low>
                                                 : &Steps::template floats<In, Stored::any>;
}

template <typename Steps, typename In, typename Out>
Step integer_step(const ScanType& from, const ScanType& to)
{
    if constexpr (!std::is_same_v<In, float> && sizeof(In) <= 2 && sizeof(Out) == 2)
        if (from.bits + from.shift <= 16 && to.bits == 16)
            return &Steps::template words<In>;
    return to.number == Number::signed_integer && to.shift == 0
               ? &Steps::template change<In, Out, true>
               : &Steps::template change<In, Out, false>;
}

template <typename Steps>
Step change_step(const ScanType& from, const ScanType& to)
{
    constexpr unsigned kExact = 24; // significant bits of a float
    if (from.number == Number::floating && to.bits > kExact)
        return nullptr;
    return with_stored_type(from, [&](auto in) {
        return with_stored_type(to, [&](auto out) -> Step {
            using In = decltype(in);
            using Out = decltype(out);
            if constexpr (!std::is_same_v<Out, float>)
                return integer_step<Steps, In, Out>(from, to);
            else if constexpr (!std::is_same_v<In, float>)
                return float_step<Steps, In>(from);
            else
                return nullptr;
        });
    });
}

// Whether two types only differ in their byte order.
bool only_order_differs(ScanType from, const ScanType& to)
{
    from.big_endian = to.big_endian;
    return from == to && (from.storage_bits == 16 || from.storage_bits == 32);
}

} // namespace

ValueConverter::Constants::Constants(const ScanType& from, const ScanType& to) noexcept
    : up(32 - std::min(from.bits + from.shift, 32U)),
      mask_in(~std::uint32_t{0} << (32 - std::min(from.bits, 32U))),
      flip_in(from.number == Number::unsigned_integer ? kTop : 0),
      flip_out(0),
      half(0),
      down(0),
      mask_out(~std::uint32_t{0}),
      place(to.shift),
      full(0)
{
    if (to.number == Number::floating)
        return;
    down = 32 - std::min(to.bits, 32U);
    half = down == 0 ? 0 : std::int32_t{1} << (down - 1);
    full = std::ldexp(1.0F, static_cast<int>(to.bits) - 1);
    if (to.number == Number::unsigned_integer) {
        mask_out >>= down;
        flip_out = kTop >> down;
    }
}

std::optional<ValueConverter> ValueConverter::create(const ScanType& from, const ScanType& to,
                                                     bool avx2) noexcept
{
    if (from == to || from.repeat != 1 || to.repeat != 1)
        return std::nullopt;
    ValueConverter made(from, to);
    made.swap_in_ = avx2 ? swap_step<Avx2>(from) : swap_step<Plain>(from);
    if (only_order_differs(from, to)) {
        if (made.swap_in_ == nullptr)
            made.swap_in_ = avx2 ? swap_step<Avx2>(to) : swap_step<Plain>(to);
        return made;
    }
    made.change_ = avx2 ? change_step<Avx2>(from, to) : change_step<Plain>(from, to);
    made.swap_out_ = avx2 ? swap_step<Avx2>(to) : swap_step<Plain>(to);
    return made.change_ == nullptr ? std::nullopt : std::optional(made);
}

void ValueConverter::convert(const std::byte* in, std::byte* out) const noexcept
{
    Piece swapped_in, changed;
    if (change_ == nullptr)
        return swap_in_(constants_, in, out);
    if (swap_in_ != nullptr) {
        swap_in_(constants_, in, swapped_in.data());
        in = swapped_in.data();
    }
    if (swap_out_ == nullptr)
        return change_(constants_, in, out);
    change_(constants_, in, changed.data());
    swap_out_(constants_, changed.data(), out);
}

void ValueConverter::convert_rows(const std::byte* in, Rows from, std::byte* out, Rows to,
                                  std::size_t width, std::size_t rows) const noexcept
{
    const bool packed_in = from.packed(), packed_out = to.packed();
    if (packed_in && packed_out) { // rows of one value fill the pieces
        from.step = from.bytes /= width;
        to.step = to.bytes /= width;
        rows *= width;
        width = 1;
    }
    const std::size_t at_once = kValuesAtOnce / width;
    Piece some, made;
    while (rows != 0) {
        const std::size_t count = std::min(at_once, rows);
        const bool full = count * width == kValuesAtOnce;
        const std::byte* source = in;
        if (!full || !packed_in) {
            move_rows(some.data(), from.bytes, in, from.step, count, from.bytes);
            if (!full) // the other values are also converted, but ignored
                std::fill(some.begin() + static_cast<std::ptrdiff_t>(count * from.bytes),
                          some.end(), std::byte{0});
            source = some.data();
        }
        std::byte* const target = full && packed_out ? out : made.data();
        convert(source, target);
        if (target != out)
            move_rows(out, to.step, made.data(), to.bytes, count, to.bytes);
        in += count * from.step;
        out += count * to.step;
        rows -= count;
    }
}

} // namespace iio_stream::detail
