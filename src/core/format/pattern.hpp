// SPDX-License-Identifier: MIT
#pragma once

#include "core/format/radio_signal.hpp"
#include "iio_stream/format.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace iio_stream::detail {

/// Test patterns. The simulated kernel device also generates the first three (docs/simulator.md).
/// ramp:  the byte stream, read as 64-bit little-endian words, counts 0, 1, 2 …
/// lanes: each value has its channel's scan index in the top kLaneBits bits and a scan counter
///        below; a counter channel has only the scan counter
/// stamp: a word of the ramp at each multiple of 4 KiB; the memory in between is left untouched
/// tone:  a complex tone in each I/Q pair (its real part in a real channel), -6 dBFS
/// noise: repeatable, about -17 dBFS rms
/// radio: a RadioSignal in each I/Q pair (its real part in a real channel)
enum class Pattern { ramp, lanes, stamp, tone, noise, radio };

Pattern parse_pattern(std::string_view option, std::string_view text);

inline constexpr unsigned kLaneBits = 4;
inline constexpr std::size_t kStampBytes = 4096;

/// The number of bits of the scan counter that a channel carries in the lanes pattern.
constexpr unsigned lane_counter_bits(const Channel& channel) noexcept
{
    return channel.component == Component::counter ? channel.type.bits
                                                   : channel.type.bits - kLaneBits;
}

/// The value of a channel in the lanes pattern: `bits` wide, not yet sign-extended or shifted.
constexpr std::uint64_t lane_value(const Channel& channel, std::uint64_t sample) noexcept
{
    if (channel.component == Component::counter)
        return sample;
    const unsigned below = lane_counter_bits(channel);
    return (std::uint64_t{channel.scan_index} & 15) << below |
           (sample & ((std::uint64_t{1} << below) - 1));
}

/// Generates any part of a pattern, as a pure function of the sample index.
class Generator {
public:
    /// Throws a usage Error if the format cannot carry the pattern.
    Generator(Pattern pattern, const Format& format, double frequency, std::uint64_t seed);
    void fill(std::span<std::byte> out, std::uint64_t first_sample) const noexcept;

private:
    void fill_stamp(std::span<std::byte> out, std::uint64_t position) const noexcept;
    void fill_lanes(std::span<std::byte> out, std::uint64_t sample) const noexcept;
    void fill_tone(std::span<std::byte> out, std::uint64_t sample) const noexcept;
    void fill_noise(std::span<std::byte> out, std::uint64_t sample) const noexcept;
    void fill_radio(std::span<std::byte> out, std::uint64_t sample) const noexcept;

    Pattern pattern_;
    Format format_;
    std::uint64_t phase_step_; ///< turns per sample, times 2^64
    std::uint64_t seed_;
    std::optional<RadioSignal> radio_; ///< of pattern=radio
};

/// Fills `out` with the bytes of the ramp from byte `position` on.
void fill_ramp(std::span<std::byte> out, std::uint64_t position) noexcept;

} // namespace iio_stream::detail
