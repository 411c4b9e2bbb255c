// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/api.hpp"
#include "iio_stream/format.hpp"

#include <cstddef>
#include <functional>
#include <span>
#include <string_view>

namespace iio_stream {

/// Converts samples between formats of the same channels. Full scale is 2^(bits-1) of an integer
/// and 1.0 of a float; narrowing rounds to nearest and saturates.
/// Thread: any number at a time; it has no state but its formats.
class IIO_STREAM_API Converter {
public:
    /// `to` is a SigMF datatype (cf32_le, ci16_le, ci8, rf32_le …) for all channels; "c…" needs
    /// I/Q pairs. Throws a usage Error.
    Converter(const Format& from, std::string_view to);

    const Format& from() const noexcept { return from_; }
    const Format& to() const noexcept { return to_; }
    /// Samples in `in`, a whole number of them, to `out`, which has room for as many.
    void convert(std::span<const std::byte> in, std::span<std::byte> out) const noexcept;

private:
    using Kernel = void (*)(const Converter&, const std::byte*, std::byte*, std::size_t samples);

    static void general(const Converter&, const std::byte*, std::byte*, std::size_t) noexcept;
    static void s16_to_f32(const Converter&, const std::byte*, std::byte*, std::size_t) noexcept;
    static void copy(const Converter&, const std::byte*, std::byte*, std::size_t) noexcept;

    Format from_, to_;
    Kernel kernel_;
};

} // namespace iio_stream
