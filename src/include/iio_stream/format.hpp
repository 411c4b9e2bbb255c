// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/api.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace iio_stream {

/// How one value lies in memory; text form as in the kernel's scan_elements/*_type files,
/// "le:s12/16>>4" (Documentation/ABI/testing/sysfs-bus-iio), with f for IEEE floating point. S and U
/// of ADI's drivers are read as s and u.
struct IIO_STREAM_API ScanType {
    enum class Number { unsigned_integer, signed_integer, floating };

    Number number = Number::signed_integer;
    bool big_endian = false;
    unsigned bits = 16;         ///< significant bits
    unsigned storage_bits = 16; ///< bits of storage of one repetition
    unsigned shift = 0;         ///< right shift that brings the value to bit 0
    unsigned repeat = 1;

    std::size_t bytes() const noexcept { return std::size_t{storage_bits} / 8 * repeat; }
    std::string text() const;
    /// Throws a usage Error for anything but such a string.
    static ScanType parse(std::string_view text);

    bool operator==(const ScanType&) const = default;
};

/// What a value is: counters (IIO's "count" channels) number the samples.
enum class Component { real, in_phase, quadrature, counter };

/// One enabled scan element.
struct Channel {
    std::string id;             ///< "voltage0_i"
    ScanType type;
    unsigned scan_index = 0;    ///< the device's own number of it
    Component component = Component::real;
    std::size_t offset = 0;     ///< bytes from the start of a sample
};

/// A sample: one value of every enabled channel, laid out by IIO's rule.
struct IIO_STREAM_API Format {
    std::vector<Channel> channels;
    std::size_t sample_bytes = 0;
    double sample_rate = 0;     ///< samples per second; 0 = unknown

    /// Places the channels: each aligned to its own size, the sample padded to its largest
    /// (the kernel's iio_compute_scan_bytes()).
    void lay_out();

    /// SigMF's name of the datatype where all channels share one it knows ("ci16_le" for I/Q
    /// pairs, "ri16_le" for real values), else the scan types, comma-separated.
    std::string name() const;

    /// From such a name and either the number of channels (I and Q are two) or their names,
    /// comma-separated; empty = as many as the name says, else one pair or one.
    static Format parse(std::string_view name, std::string_view channels = {});

    /// Whether the channels are I, Q, I, Q … of one scan type.
    bool is_complex() const noexcept;
};

/// Converts samples between formats of the same channels. Full scale is 2^(bits-1) of an integer
/// and 1.0 of a float; narrowing rounds to nearest and saturates.
/// Thread: any number at a time; it has no state but its formats.
class IIO_STREAM_API Converter {
public:
    /// `to` is a SigMF datatype (cf32_le, ci16_le, ci8, rf32_le …) for all channels; "c…" needs
    /// I/Q pairs. Throws a usage Error.
    Converter(const Format& from, std::string_view to);
    /// Channel by channel to as many others. Either side may be some channels of larger samples, at
    /// their offsets in them; what lies between those of `to` is left as it is.
    Converter(const Format& from, const Format& to);

    const Format& from() const noexcept { return from_; }
    const Format& to() const noexcept { return to_; }
    /// Samples in `in`, a whole number of them, to `out`, which has room for as many.
    void convert(std::span<const std::byte> in, std::span<std::byte> out) const noexcept;

private:
    using Kernel = void (*)(const Converter&, const std::byte*, std::byte*, std::size_t samples);

    static void general(const Converter&, const std::byte*, std::byte*, std::size_t) noexcept;
    static void s16_to_f32(const Converter&, const std::byte*, std::byte*, std::size_t) noexcept;
    static void s16_to_s16(const Converter&, const std::byte*, std::byte*, std::size_t) noexcept;
    static void f32_to_s16(const Converter&, const std::byte*, std::byte*, std::size_t) noexcept;
    static void copy(const Converter&, const std::byte*, std::byte*, std::size_t) noexcept;
    void choose() noexcept;
    template <typename From, typename To, typename Each>
    void each_value(const std::byte* in, std::byte* out, std::size_t samples,
                    Each each) const noexcept;

    Format from_, to_;
    Kernel kernel_;
};

} // namespace iio_stream
