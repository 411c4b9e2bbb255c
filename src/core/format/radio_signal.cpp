// SPDX-License-Identifier: MIT
#include "core/format/radio_signal.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace iio_stream::detail {

namespace {

constexpr std::size_t kPeriod = 65536;
constexpr std::size_t kPairOffset = 21845; // between the pairs, a third of the period
constexpr std::size_t kSymbol = 16;        // samples per symbol
constexpr int kReach = 6;                  // symbols on either side that a pulse reaches
constexpr double kRollOff = 0.35;
constexpr double kCarrier = -3.0 / 16; // a whole number of turns in a period
constexpr double kNoiseLevel = 0.0031622776601683795;
constexpr double kToneLevel = 0.1;
constexpr double kCarrierLevel = 0.05011872336272722;
constexpr double kChirpLevel = 0.19952623149688797;
constexpr double kPi = std::numbers::pi;

// The raised-cosine pulse at `time` symbols from its middle (Proakis, Digital Communications).
double raised_cosine(double time)
{
    const double sinc = time == 0 ? 1 : std::sin(kPi * time) / (kPi * time);
    const double edge = 1 - std::pow(2 * kRollOff * time, 2);
    if (std::abs(edge) < 1e-9)
        return kPi / 4 * std::sin(kPi / (2 * kRollOff)) / (kPi / (2 * kRollOff));
    return sinc * std::cos(kPi * kRollOff * time) / edge;
}

// The sum of four uniform numbers is close to a Gaussian, and bounded. Its variance is 1.
double gaussian(std::uint64_t counter)
{
    const std::uint64_t bits = mix(counter);
    double sum = 0;
    for (int part = 0; part < 4; ++part)
        sum += static_cast<double>(bits >> part * 16 & 0xffff) / 65536.0 - 0.5;
    return sum * std::sqrt(3.0);
}

std::complex<double> symbol(std::size_t number, std::uint64_t seed)
{
    const std::uint64_t bits = mix(seed + number % (kPeriod / kSymbol));
    return std::complex<double>((bits & 1) != 0 ? 1 : -1, (bits & 2) != 0 ? 1 : -1) /
           std::numbers::sqrt2;
}

} // namespace

// Vigna, "splitmix64" (public domain algorithm).
std::uint64_t mix(std::uint64_t counter) noexcept
{
    counter += 0x9e3779b97f4a7c15;
    counter = (counter ^ (counter >> 30)) * 0xbf58476d1ce4e5b9;
    counter = (counter ^ (counter >> 27)) * 0x94d049bb133111eb;
    return counter ^ (counter >> 31);
}

std::uint64_t phase_step(double turns) noexcept
{
    return static_cast<std::uint64_t>(std::ldexp(turns - std::floor(turns), 64));
}

double tone_angle(std::uint64_t step, std::uint64_t sample) noexcept
{
    const std::uint64_t phase = step * sample; // wraps: whole turns cancel
    return 2 * kPi * std::ldexp(static_cast<double>(phase), -64);
}

RadioSignal::RadioSignal(double turns, std::uint64_t second, std::uint64_t seed)
    : phase_step_(phase_step(turns)), second_(second), repeated_(kPeriod)
{
    double pulse[2 * kReach][kSymbol]; // of the symbols around a sample, the earliest first
    for (int i = 0; i < 2 * kReach; ++i)
        for (std::size_t at = 0; at < kSymbol; ++at)
            pulse[i][at] = raised_cosine(static_cast<double>(at) / kSymbol - (i - kReach + 1));
    const std::uint64_t symbols = mix(seed), noise = mix(symbols);
    for (std::size_t n = 0; n < kPeriod; ++n) {
        std::complex<double> carrier;
        for (int i = 0; i < 2 * kReach; ++i)
            carrier += pulse[i][n % kSymbol] * symbol(n / kSymbol + kPeriod / kSymbol +
                                                          static_cast<std::size_t>(i) + 1 - kReach,
                                                      symbols);
        carrier *= std::polar(kCarrierLevel, 2 * kPi * kCarrier * static_cast<double>(n));
        const std::complex<double> hiss(gaussian(noise + 2 * n), gaussian(noise + 2 * n + 1));
        repeated_[n] = std::complex<float>(carrier + hiss * (kNoiseLevel / std::numbers::sqrt2));
    }
}

void RadioSignal::fill(std::span<std::complex<float>> out, std::uint64_t first_sample,
                       unsigned pair) const noexcept
{
    const std::complex<float> turn(
        std::polar(1.0, 2 * kPi * std::ldexp(static_cast<double>(phase_step_), -64)));
    std::complex<float> tone(std::polar(kToneLevel, tone_angle(phase_step_, first_sample)));
    std::size_t at = static_cast<std::size_t>(first_sample + pair * kPairOffset) % kPeriod;
    for (std::complex<float>& sample : out) {
        sample = repeated_[at] + tone;
        tone = {tone.real() * turn.real() - tone.imag() * turn.imag(),
                tone.real() * turn.imag() + tone.imag() * turn.real()};
        at = (at + 1) % kPeriod;
    }
    if (const std::uint64_t place = first_sample % second_;
        place < second_ / 10 || place + out.size() > second_)
        add_chirp(out, first_sample);
}

void RadioSignal::add_chirp(std::span<std::complex<float>> out,
                            std::uint64_t first_sample) const noexcept
{
    const auto length = static_cast<double>(second_ / 10);
    for (std::size_t i = 0; i < out.size(); ++i) {
        const auto place = static_cast<double>((first_sample + i) % second_);
        if (place >= length)
            continue;
        const double turns = place / 4 + place * place / 16 / length;
        const double window = std::sin(kPi * place / length);
        out[i] += std::complex<float>(
            std::polar(kChirpLevel * window * window, 2 * kPi * (turns - std::floor(turns))));
    }
}

} // namespace iio_stream::detail
