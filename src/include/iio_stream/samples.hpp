// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/api.hpp"
#include "iio_stream/block.hpp"
#include "iio_stream/format.hpp"

#include <complex>
#include <concepts>
#include <cstddef>
#include <span>
#include <type_traits>

// Samples as C++ numbers, without a cast. There are three ways:
//
//     block.as<T>()         in place, as the device wrote them, without a copy; T must be the type
//                           of the format
//     empty.as<T>()         the same, to be filled for a Writer
//     reader.read(vector)   a copy into your vector, converted to its type, across blocks
//
// reader.format().name() is the format of a stream. The option convert= of an endpoint changes it:
//
//     Reader rx({.source = "iio:cf-ad9361-lpc?convert=cf32_le"});
//     for (const Block& block : rx)
//         for (std::complex<float> sample : block.as<std::complex<float>>())
//             power += std::norm(sample);
//
// If the types differ, as() throws a usage Error that names both. Samples are never reinterpreted
// silently.

namespace iio_stream {

namespace detail {

// Compile-time properties of a sample type: whether it is an I/Q pair, and the type of one value.
template <typename T>
struct IsComplex : std::false_type {}; // a number
template <typename V>
struct IsComplex<std::complex<V>> : std::true_type {}; // I and Q

template <typename T>
struct ValueOf {
    using type = T; // a number: itself
};
template <typename V>
struct ValueOf<std::complex<V>> {
    using type = V; // a pair: the type of either part
};

/// The same properties in the terms of a Format, for code that is not a template.
struct Type {
    ScanType::Number number; ///< signed, unsigned or floating
    unsigned bits;           ///< bits of one value
    bool complex;            ///< one element consists of I and Q
};

/// Throws a usage Error that names both types if samples of `format` are not stored as such values:
/// a different width, kind of number or byte order, mixed types, or no I/Q pairs. The significant
/// bits and the shift of a scan type do not matter: an AD9361's 12 bits in 16 are std::int16_t.
IIO_STREAM_API void check_type(const Format& format, const Type& type);

} // namespace detail

/// A type for reading and writing samples: an integer or float of 8 to 64 bits for one channel, or
/// a std::complex for I and Q:
///
///     ci16_le  std::complex<std::int16_t>     ri16_le  std::int16_t
///     cf32_le  std::complex<float>            rf32_le  float
///     ci8      std::complex<std::int8_t>      ru8      std::uint8_t
template <typename T>
concept SampleType =
    (std::integral<typename detail::ValueOf<T>::type> ||
     std::floating_point<typename detail::ValueOf<T>::type>)&&!std::same_as<T, bool> &&
    sizeof(typename detail::ValueOf<T>::type) <= 8;

namespace detail {

/// Returns the description of T.
template <SampleType T>
constexpr Type type_of() noexcept
{
    using V = typename ValueOf<T>::type;
    const auto number = std::floating_point<V> ? ScanType::Number::floating
                        : std::is_signed_v<V>  ? ScanType::Number::signed_integer
                                               : ScanType::Number::unsigned_integer;
    return {number, 8 * sizeof(V), IsComplex<T>::value};
}

} // namespace detail

/// The samples of a block in place, as values of type T. Block::as() and EmptyBlock::as() return
/// it. It has one element for each I/Q pair, or for each channel, of each sample. The values are as
/// the device wrote them, not shifted or scaled (Reader::read() and Converter do that).
///
///     for (std::complex<std::int16_t> sample : block.as<std::complex<std::int16_t>>())
///
/// It brackets the CPU's access (Guard: CpuRead or CpuWrite) during its lifetime. It borrows the
/// block, which must outlive it. Its spans must not outlive it either, so store it in a variable
/// before you take a span. Thread: one at a time.
template <typename T, typename Guard>
class Samples {
public:
    /// Constructs it from a Block or EmptyBlock whose format as() has checked.
    template <typename B>
    Samples(const B& block, std::size_t bytes)
        : guard_(block), all_(reinterpret_cast<T*>(guard_.bytes().data()), bytes / sizeof(T))
    {}
    Samples(const Samples&) = delete;

    std::size_t size() const noexcept { return all_.size(); } ///< number of elements
    /// Access is not range-checked, as in an array. The elements of an EmptyBlock can be assigned.
    T& operator[](std::size_t index) const noexcept { return all_[index]; }
    T* data() const noexcept { return all_.data(); }
    T* begin() const noexcept { return all_.data(); }
    T* end() const noexcept { return all_.data() + all_.size(); }
    /// For functions that take spans. The span is valid for the lifetime of this object.
    std::span<T> span() const& noexcept { return all_; }
    std::span<T> span() const&& = delete; // the access would end before the span does

private:
    Guard guard_;      ///< the CPU's access
    std::span<T> all_; ///< the block's bytes as elements
};

/// Returns all samples of a lease or slice.
template <typename T>
Samples<const T, CpuRead> Block::as() const
{
    static_assert(SampleType<T>, "a number of 8 to 64 bits, or a std::complex of one");
    detail::check_type(format(), detail::type_of<T>());
    return {*this, bytes()};
}

/// Returns all whole samples that an empty block can hold.
template <typename T>
Samples<T, CpuWrite> EmptyBlock::as() const
{
    static_assert(SampleType<T>, "a number of 8 to 64 bits, or a std::complex of one");
    detail::check_type(format(), detail::type_of<T>());
    return {*this, samples() * format().sample_bytes};
}

} // namespace iio_stream
