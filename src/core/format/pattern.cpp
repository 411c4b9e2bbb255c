// SPDX-License-Identifier: MIT
#include "core/format/pattern.hpp"

#include "core/format/stored_value.hpp"
#include "iio_stream/error.hpp"
#include "iio_stream/units.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstring>
#include <numbers>

namespace iio_stream::detail {

namespace {

const std::vector<std::string> kNames{"ramp", "lanes", "stamp", "tone", "noise", "radio"};

// Stores a number in [-1, 1) as a channel's value.
void store_scaled(const ScanType& type, double value, std::byte* at)
{
    if (type.number == ScanType::Number::floating) {
        const auto narrow = static_cast<float>(value);
        return store_value(type,
                           type.bits == 64 ? std::bit_cast<std::uint64_t>(value)
                                           : std::bit_cast<std::uint32_t>(narrow),
                           at);
    }
    const double full_scale = std::ldexp(1.0, static_cast<int>(type.bits) - 1);
    auto level = static_cast<std::uint64_t>(std::llrint(value * full_scale));
    if (type.number == ScanType::Number::unsigned_integer) // offset binary: 0 V is half scale
        level += std::uint64_t{1} << (type.bits - 1);
    store_value(type, level, at);
}

bool is_native_16(const ScanType& type)
{
    return type.number == ScanType::Number::signed_integer && type.bits == 16 &&
           type.storage_bits == 16 && type.big_endian == (std::endian::native == std::endian::big);
}

} // namespace

Pattern parse_pattern(std::string_view option, std::string_view text)
{
    const auto at = std::find(kNames.begin(), kNames.end(), text);
    if (at == kNames.end())
        fail_usage(std::string(option) + "=" + std::string(text) + " is not a pattern",
                   suggest(text, kNames));
    return static_cast<Pattern>(at - kNames.begin());
}

Generator::Generator(Pattern pattern, const Format& format, double frequency, std::uint64_t seed)
    : pattern_(pattern), format_(format), phase_step_(0), seed_(seed)
{
    if (pattern == Pattern::lanes)
        for (const Channel& channel : format.channels)
            if (channel.type.bits <= kLaneBits || channel.type.number == ScanType::Number::floating)
                fail_usage("pattern=lanes needs integers of more than " +
                           std::to_string(kLaneBits) + " bits, channel " + channel.id + " is " +
                           channel.type.text());
    if (pattern == Pattern::tone && format.sample_rate > 0)
        phase_step_ = phase_step(frequency / format.sample_rate);
    if (pattern == Pattern::radio) {
        const bool paced = format.sample_rate > 0;
        const double second = paced ? std::max(format.sample_rate, 1.0) : 1e6;
        radio_.emplace(paced ? frequency / format.sample_rate : 0.1,
                       static_cast<std::uint64_t>(std::llround(second)), seed);
    }
}

void Generator::fill(std::span<std::byte> out, std::uint64_t first_sample) const noexcept
{
    switch (pattern_) {
    case Pattern::ramp:
        return fill_ramp(out, first_sample * format_.sample_bytes);
    case Pattern::stamp:
        return fill_stamp(out, first_sample * format_.sample_bytes);
    case Pattern::lanes:
        return fill_lanes(out, first_sample);
    case Pattern::tone:
        return fill_tone(out, first_sample);
    case Pattern::noise:
        return fill_noise(out, first_sample);
    case Pattern::radio:
        return fill_radio(out, first_sample);
    }
}

void fill_ramp(std::span<std::byte> out, std::uint64_t position) noexcept
{
    std::byte* at = out.data();
    std::byte* const end = at + out.size();
    for (; at != end && position % 8 != 0; ++position)
        *at++ = static_cast<std::byte>(position / 8 >> position % 8 * 8);
    std::uint64_t word = position / 8;
    for (; end - at >= 8; at += 8, ++word)
        std::memcpy(at, &word, 8);
    for (unsigned i = 0; at != end; ++i)
        *at++ = static_cast<std::byte>(word >> i * 8);
}

void Generator::fill_stamp(std::span<std::byte> out, std::uint64_t position) const noexcept
{
    std::uint64_t next = (position + kStampBytes - 1) / kStampBytes * kStampBytes;
    for (; next + 8 <= position + out.size(); next += kStampBytes) {
        const std::uint64_t word = next / 8;
        std::memcpy(out.data() + (next - position), &word, 8);
    }
}

void Generator::fill_lanes(std::span<std::byte> out, std::uint64_t sample) const noexcept
{
    const std::size_t count = out.size() / format_.sample_bytes;
    std::byte* at = out.data();
    for (std::size_t i = 0; i < count; ++i, at += format_.sample_bytes)
        for (const Channel& channel : format_.channels)
            store_value(channel.type, lane_value(channel, sample + i), at + channel.offset);
}

void Generator::fill_tone(std::span<std::byte> out, std::uint64_t sample) const noexcept
{
    constexpr double kAmplitude = 0.5011872336272722; // -6 dBFS
    constexpr std::size_t kRun = 512; // limits the accumulated rounding error of the rotation
    const double step = std::ldexp(static_cast<double>(phase_step_), -64);
    const std::complex<double> turn = std::polar(1.0, 2 * std::numbers::pi * step);
    const std::size_t count = out.size() / format_.sample_bytes;
    std::byte* at = out.data();
    std::complex<double> now;
    for (std::size_t i = 0; i < count; ++i, at += format_.sample_bytes, now *= turn) {
        if (i % kRun == 0)
            now = std::polar(kAmplitude, tone_angle(phase_step_, sample + i));
        for (const Channel& channel : format_.channels)
            store_scaled(channel.type,
                         channel.component == Component::quadrature ? now.imag() : now.real(),
                         at + channel.offset);
    }
}

void Generator::fill_noise(std::span<std::byte> out, std::uint64_t sample) const noexcept
{
    const std::size_t count = out.size() / format_.sample_bytes;
    std::byte* at = out.data();
    for (std::size_t i = 0; i < count; ++i, at += format_.sample_bytes)
        for (const Channel& channel : format_.channels) {
            // The sum of four uniform numbers is close to a Gaussian, and bounded.
            const std::uint64_t bits = mix((sample + i) * 16 + channel.scan_index + mix(seed_));
            double sum = 0;
            for (int part = 0; part < 4; ++part)
                sum += static_cast<double>(bits >> part * 16 & 0xffff) / 65536.0 - 0.5;
            store_scaled(channel.type, sum / 4, at + channel.offset);
        }
}

void Generator::fill_radio(std::span<std::byte> out, std::uint64_t sample) const noexcept
{
    std::complex<float> values[RadioSignal::kRun];
    const std::size_t count = out.size() / format_.sample_bytes;
    for (std::size_t done = 0; done < count; done += RadioSignal::kRun) {
        const std::span run(values, std::min(count - done, RadioSignal::kRun));
        std::byte* const first = out.data() + done * format_.sample_bytes;
        for (std::size_t index = 0; index < format_.channels.size(); ++index) {
            const Channel& channel = format_.channels[index];
            // The quadrature part follows the in-phase part of the same pair.
            if (index == 0 || channel.component != Component::quadrature)
                radio_->fill(run, sample + done, static_cast<unsigned>(index));
            std::byte* at = first + channel.offset;
            const bool imaginary = channel.component == Component::quadrature;
            if (is_native_16(channel.type))
                for (const std::complex<float>& value : run) {
                    const float level = (imaginary ? value.imag() : value.real()) * 32768;
                    const auto stored = static_cast<std::int16_t>(std::lrintf(level));
                    std::memcpy(at, &stored, sizeof stored);
                    at += format_.sample_bytes;
                }
            else
                for (const std::complex<float>& value : run) {
                    store_scaled(channel.type, imaginary ? value.imag() : value.real(), at);
                    at += format_.sample_bytes;
                }
        }
    }
}

} // namespace iio_stream::detail
