// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/api.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace iio_stream {

namespace detail {
struct ConversionPlan;
} // namespace detail

/// How one value is stored in memory. Its text has the syntax of the kernel's scan_elements/*_type
/// files (Documentation/ABI/testing/sysfs-bus-iio), with f added for IEEE floating point:
///
///     le:s12/16>>4     little endian, signed, 12 significant bits in 16, shifted left by 4
///     be:u24/32X2>>0   big endian, unsigned, 24 bits in 32, twice in a row
///     le:f32/32>>0     float
///
/// The parser reads the S and U of ADI's drivers as s and u. This is a value type: copy it freely,
/// on any thread.
struct IIO_STREAM_API ScanType {
    /// The kind of number: u, s or f in the text. Signed integers are two's complement.
    enum class Number { unsigned_integer, signed_integer, floating };

    Number number = Number::signed_integer;
    bool big_endian = false;
    unsigned bits = 16;         ///< significant bits
    unsigned storage_bits = 16; ///< bits one repetition occupies
    unsigned shift = 0;         ///< shift right by this to bring the value to bit 0
    unsigned repeat = 1;        ///< number of consecutive values, all of this channel

    /// Bytes of all repetitions.
    std::size_t bytes() const noexcept { return std::size_t{storage_bits} / 8 * repeat; }
    /// Returns the scan type in this syntax.
    std::string text() const;
    /// Parses text in this syntax. Throws a usage Error if it is not valid.
    static ScanType parse(std::string_view text);

    bool operator==(const ScanType&) const = default;
};

/// The meaning of a channel's value.
enum class Component {
    real,       ///< a real signal
    in_phase,   ///< I of an I/Q pair; Q is the next channel
    quadrature, ///< Q of an I/Q pair; I is the previous channel
    counter     ///< a sample counter (IIO's "count" channels), which proves losses
};

/// One enabled channel (the kernel's "scan element").
struct Channel {
    std::string id;          ///< "voltage0_i"
    ScanType type;           ///< storage of its value
    unsigned scan_index = 0; ///< its index in the device; channels are ordered by it in a sample
    Component component = Component::real; ///< meaning of its value
    std::size_t offset = 0;                ///< bytes from the start of a sample
};

/// The layout of a sample: one value of every enabled channel, placed by IIO's rule.
///
///     Format::parse("ci16_le")              one I/Q pair of 16-bit integers, 4 bytes a sample
///     Format::parse("ci16_le", "4")         two I/Q pairs, 8 bytes
///     Format::parse("ri16_le", "adc0,adc1") two real channels with names, 4 bytes
///
/// This is a value type: copy it freely, on any thread.
struct IIO_STREAM_API Format {
    std::vector<Channel> channels; ///< ordered by scan_index
    std::size_t sample_bytes = 0;  ///< bytes of one sample, including padding
    double sample_rate = 0;        ///< samples per second; 0 = unknown

    /// Sets the channels' offsets and sample_bytes. Each value is aligned to its own size, and the
    /// sample is padded to the largest alignment (as in the kernel's iio_compute_scan_bytes()).
    void lay_out();

    /// Returns the SigMF datatype if all channels share one that SigMF defines ("ci16_le" for I/Q
    /// pairs, "ri16_le" for real values), and the comma-separated scan types otherwise.
    std::string name() const;

    /// Parses such a name. `channels` is the number of channels (I and Q are two) or their
    /// comma-separated names. If it is empty, the format has as many channels as `name` lists scan
    /// types, or one I/Q pair, or one real channel. Throws a usage Error if the name is unknown or
    /// does not fit the number of channels.
    static Format parse(std::string_view name, std::string_view channels = {});

    /// Whether the channels are I, Q, I, Q … of one scan type: samples that std::complex can hold.
    bool is_complex() const noexcept;
};

/// Converts samples between two formats with the same channels. Full scale is 2^(bits-1) of an
/// integer and 1.0 of a float; narrowing rounds to nearest and saturates.
///
///     const Converter convert(reader.format(), "cf32_le");
///     std::vector<std::byte> out(block->samples() * convert.to().sample_bytes);
///     convert.convert(CpuRead(*block).bytes(), out);
///
/// Reader::read() and the option convert= do this for you.
/// Thread: any number of threads can use one Converter at the same time; its only state is its
/// formats. The conversions do not allocate memory.
class IIO_STREAM_API Converter {
public:
    /// `to` is a SigMF datatype (cf32_le, ci16_le, ci8, rf32_le …) for all channels; "c…" needs
    /// I/Q pairs. Throws a usage Error if "c…" is given for channels that are not I/Q pairs, or if
    /// the datatype is unknown.
    Converter(const Format& from, std::string_view to);
    /// Converts channel by channel, to the same number of channels. The channels of either side can
    /// be part of a larger sample; their offsets place them in it. Bytes between the channels of
    /// `to` are not written.
    Converter(const Format& from, const Format& to);

    const Format& from() const noexcept { return from_; } ///< format of the input samples
    const Format& to() const noexcept { return to_; }     ///< format of the output samples
    /// Converts all samples of `in`, which must hold a whole number of samples, to `out`, which
    /// must have room for as many samples. The buffers must not overlap.
    void convert(std::span<const std::byte> in, std::span<std::byte> out) const noexcept;

    /// Converts as convert() does, and writes the channels to several buffers (deinterleaves them):
    /// the first of out.size() equal groups of channels goes to out[0], the second to out[1] and so
    /// on. With I/Q pairs and a buffer for each pair, out[1] gets the second pair of every sample.
    /// Each buffer gets its values without gaps, wherever to() has them. The number of channels
    /// must be a multiple of out.size(), and all channels of to() must have the same type.
    void deinterleave(std::span<const std::byte> in,
                      std::span<std::byte* const> out) const noexcept;
    /// Does the reverse of deinterleave(): fills all samples of `out` from several buffers, of
    /// which each has one group of channels. All channels of from() must have the same type.
    void interleave(std::span<const std::byte* const> in, std::span<std::byte> out) const noexcept;

private:
    Format from_, to_;
    std::shared_ptr<const detail::ConversionPlan> plan_;
};

} // namespace iio_stream
