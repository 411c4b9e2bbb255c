// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/api.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace iio_stream {

/// How one value is stored in memory. Its text is that of the kernel's scan_elements/*_type files
/// (Documentation/ABI/testing/sysfs-bus-iio), with f for IEEE floating point:
///
///     le:s12/16>>4     little endian, signed, 12 significant bits in 16, shifted left by 4
///     be:u24/32X2>>0   big endian, unsigned, 24 bits in 32, twice in a row
///     le:f32/32>>0     float
///
/// The S and U of ADI's drivers are read as s and u. A value type: copy it freely, on any thread.
struct IIO_STREAM_API ScanType {
    /// s, u or f in the text. Signed integers are two's complement.
    enum class Number { unsigned_integer, signed_integer, floating };

    Number number = Number::signed_integer;
    bool big_endian = false;
    unsigned bits = 16;         ///< significant bits
    unsigned storage_bits = 16; ///< bits one repetition occupies
    unsigned shift = 0;         ///< shift right by this to bring the value to bit 0
    unsigned repeat = 1;        ///< values in a row, all of this channel

    /// Bytes of all repetitions.
    std::size_t bytes() const noexcept { return std::size_t{storage_bits} / 8 * repeat; }
    /// The text that parse() takes.
    std::string text() const;
    /// Throws a usage Error for anything but such a text.
    static ScanType parse(std::string_view text);

    bool operator==(const ScanType&) const = default;
};

/// What a channel's value means.
enum class Component {
    real,       ///< a signal of its own
    in_phase,   ///< I of an I/Q pair; Q is the next channel
    quadrature, ///< Q of that pair
    counter     ///< the number of the sample (IIO's "count" channels), which proves losses
};

/// One enabled channel (the kernel's "scan element").
struct Channel {
    std::string id;          ///< "voltage0_i"
    ScanType type;           ///< how its value is stored
    unsigned scan_index = 0; ///< its number in the device, which orders the channels of a sample
    Component component = Component::real; ///< what its value means
    std::size_t offset = 0;                ///< bytes from the start of a sample
};

/// The layout of a sample: one value of every enabled channel, placed by IIO's rule.
///
///     Format::parse("ci16_le")              one I/Q pair of 16-bit integers, 4 bytes a sample
///     Format::parse("ci16_le", "4")         two I/Q pairs, 8 bytes
///     Format::parse("ri16_le", "adc0,adc1") two real channels with names, 4 bytes
///
/// A value type: copy it freely, on any thread.
struct IIO_STREAM_API Format {
    std::vector<Channel> channels; ///< by scan_index
    std::size_t sample_bytes = 0;  ///< of one sample, padding included
    double sample_rate = 0;        ///< samples per second; 0 = unknown

    /// Sets the channels' offsets and sample_bytes: each value is aligned to its own size, the
    /// sample padded to the largest alignment (the kernel's iio_compute_scan_bytes()).
    void lay_out();

    /// SigMF's name of the datatype if all channels share one that SigMF knows ("ci16_le" for I/Q
    /// pairs, "ri16_le" for real values), else the scan types, comma-separated.
    std::string name() const;

    /// From such a name, and either the number of channels (I and Q are two) or their names,
    /// comma-separated. Without `channels`: as many as the name lists, or one pair, or one channel.
    /// Throws a usage Error for an unknown name or a number that does not fit it.
    static Format parse(std::string_view name, std::string_view channels = {});

    /// Whether the channels are I, Q, I, Q … of one scan type: samples that std::complex can hold.
    bool is_complex() const noexcept;
};

/// Converts samples between formats of the same channels. Full scale is 2^(bits-1) of an integer
/// and 1.0 of a float; narrowing rounds to nearest and saturates.
///
///     const Converter convert(reader.format(), "cf32_le");
///     std::vector<std::byte> out(block->samples() * convert.to().sample_bytes);
///     convert.convert(CpuRead(*block).bytes(), out);
///
/// Reader::read() and the option convert= do this for you.
/// Thread: any number at a time; it has no state but its formats. convert() allocates nothing.
class IIO_STREAM_API Converter {
public:
    /// `to` is a SigMF datatype (cf32_le, ci16_le, ci8, rf32_le …) for all channels; "c…" needs
    /// I/Q pairs. Throws a usage Error if they differ in that, or for an unknown datatype.
    Converter(const Format& from, std::string_view to);
    /// Channel by channel, to the same number of channels. Either side may be part of a larger
    /// sample, at its offsets; bytes between the channels of `to` are left alone.
    Converter(const Format& from, const Format& to);

    const Format& from() const noexcept { return from_; } ///< of the samples that go in
    const Format& to() const noexcept { return to_; }     ///< of those that come out
    /// Converts all samples of `in`, a whole number of them, to `out`, which must have room for as
    /// many. They must not overlap.
    void convert(std::span<const std::byte> in, std::span<std::byte> out) const noexcept;

private:
    using Kernel = void (*)(const Converter&, const std::byte*, std::byte*, std::size_t samples);

    static void general(const Converter&, const std::byte*, std::byte*, std::size_t) noexcept;
    static void s16_to_f32(const Converter&, const std::byte*, std::byte*, std::size_t) noexcept;
    static void s16_to_s16(const Converter&, const std::byte*, std::byte*, std::size_t) noexcept;
    static void f32_to_s16(const Converter&, const std::byte*, std::byte*, std::size_t) noexcept;
    static void copy(const Converter&, const std::byte*, std::byte*, std::size_t) noexcept;
    static void copy_channels(const Converter&, const std::byte*, std::byte*, std::size_t) noexcept;
    void choose() noexcept;
    template <typename From, typename To, typename Each>
    void each_value(const std::byte* in, std::byte* out, std::size_t samples,
                    Each each) const noexcept;

    Format from_, to_;
    Kernel kernel_;
};

} // namespace iio_stream
