// SPDX-License-Identifier: MIT
#pragma once

#include <complex>
#include <cstdint>
#include <span>
#include <vector>

namespace iio_stream::detail {

/// A signal that looks like a received band, around 0 Hz, as a pure function of the sample index:
/// - white noise, -50 dBFS rms
/// - a tone, -20 dBFS
/// - a QPSK carrier at -3/16 of the rate, with a symbol every 16 samples, -26 dBFS rms
/// - a chirp from 1/4 to 3/8 of the rate in the first tenth of each second, -14 dBFS at its middle
/// Noise and carrier repeat after 65536 samples.
class RadioSignal {
public:
    /// `turns`: the tone's frequency divided by the rate. `second`: the number of samples per
    /// second, at least 1.
    RadioSignal(double turns, std::uint64_t second, std::uint64_t seed);

    /// Fills `out`, which has at most kRun samples. Full scale is 1. Signals of different `pair`s
    /// differ in their noise and their symbols.
    void fill(std::span<std::complex<float>> out, std::uint64_t first_sample,
              unsigned pair) const noexcept;

    static constexpr std::size_t kRun = 512; ///< limits the rounding error of the rotated tone

private:
    void add_chirp(std::span<std::complex<float>> out, std::uint64_t first_sample) const noexcept;

    std::uint64_t phase_step_; ///< turns per sample, times 2^64
    std::uint64_t second_;
    std::vector<std::complex<float>> repeated_; ///< noise and carrier
};

/// Converts turns per sample to a phase step: turns modulo 1, times 2^64.
std::uint64_t phase_step(double turns) noexcept;
/// Returns the angle, in radians, of a tone with this phase step at a sample.
double tone_angle(std::uint64_t step, std::uint64_t sample) noexcept;
/// Returns a hash of a counter that is good enough for noise.
std::uint64_t mix(std::uint64_t counter) noexcept;

} // namespace iio_stream::detail
