// SPDX-License-Identifier: MIT
#pragma once

#include "core/format/rows.hpp"
#include "iio_stream/format.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace iio_stream::detail {

/// Values that one step converts. The compilers vectorize loops of this length.
inline constexpr std::size_t kValuesAtOnce = 512;

/// The values of one step, which have at most 4 bytes each.
using Piece = std::array<std::byte, kValuesAtOnce * 4>;

/// Converts values of one scan type to another, as a Converter does. Scan types without repeated
/// values only. Thread: any number of threads can use one object at the same time.
class ValueConverter {
public:
    /// Returns nothing if it cannot convert these types, because they are equal, one of them has
    /// values of 64 bits, both are floats of different widths, or a float becomes an integer of
    /// more than 24 bits. `avx2`: uses AVX2,
    /// which the processor must have; has no effect on other architectures.
    static std::optional<ValueConverter> create(const ScanType& from, const ScanType& to,
                                                bool avx2) noexcept;

    /// Converts kValuesAtOnce adjacent values. `in` and `out` need no alignment, and do not
    /// overlap.
    void convert(const std::byte* in, std::byte* out) const noexcept;

    /// Converts rows of `width` values each, at most kValuesAtOnce.
    void convert_rows(const std::byte* in, Rows from, std::byte* out, Rows to, std::size_t width,
                      std::size_t rows) const noexcept;

    /// How an integer is converted. It goes through a two's complement number with a full scale of
    /// 2^31.
    struct Constants {
        Constants(const ScanType& from, const ScanType& to) noexcept;

        unsigned up;            ///< left shift of the stored bits that brings the sign to bit 31
        std::uint32_t mask_in;  ///< the significant bits after that shift
        std::uint32_t flip_in;  ///< bit 31 if the type is unsigned, because that is offset binary
        std::uint32_t flip_out; ///< the same for the result
        std::int32_t half;      ///< is added to round to nearest, ties up; 0 if no bits are dropped
        unsigned down;          ///< right shift that drops the bits which the result lacks
        std::uint32_t mask_out; ///< clears the sign extension of an unsigned result
        unsigned place;         ///< left shift of the result in its storage
        float full;             ///< full scale of an integer result that comes from a float
    };
    using Step = void (*)(const Constants&, const std::byte* in, std::byte* out) noexcept;

private:
    ValueConverter(const ScanType& from, const ScanType& to) noexcept : constants_(from, to) {}

    Constants constants_;
    Step swap_in_ = nullptr;  ///< reverses the bytes of the values first; null if not needed
    Step change_ = nullptr;   ///< null if the types only differ in their byte order
    Step swap_out_ = nullptr; ///< reverses the bytes of the results
};

} // namespace iio_stream::detail
