// SPDX-License-Identifier: MIT
#include <iio_stream/reader.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>

namespace {

using Sample = std::complex<std::int16_t>;
constexpr std::size_t bins = 64;

// Returns the mean power of each bin, relative to full scale, by a plain Fourier sum of windowed
// pieces.
std::array<double, bins> spectrum(std::span<const Sample> samples, double full_scale)
{
    std::array<std::complex<double>, bins> turn;
    std::array<double, bins> window, power{};
    for (std::size_t n = 0; n < bins; ++n) {
        turn[n] = std::polar(1.0, -2 * M_PI * static_cast<double>(n) / bins);
        window[n] = (1 - std::cos(2 * M_PI * static_cast<double>(n) / (bins - 1))) / (bins - 1);
    }
    const std::size_t pieces = samples.size() / bins;
    for (std::size_t piece = 0; piece < pieces; ++piece) {
        const auto iq = samples.subspan(piece * bins, bins);
        for (std::size_t bin = 0; bin < bins; ++bin) {
            std::complex<double> sum;
            for (std::size_t n = 0; n < bins; ++n)
                sum += turn[n * bin % bins] * window[n] *
                       std::complex<double>(iq[n].real(), iq[n].imag()) / full_scale;
            power[bin] += std::norm(sum) / static_cast<double>(pieces);
        }
    }
    return power;
}

} // namespace

int main(int argc, char** argv)
{
    // "iio:cf-ad9361-lpc?frequency=2.4G&channels=voltage0,voltage1" shows the spectrum that a radio
    // receives.
    const char* endpoint = argc > 1 ? argv[1] : "sim:?rate=1M&pattern=tone&frequency=125000";
    iio_stream::Reader rx({.source = endpoint, .samples = 100'000});
    // Full scale is 2048 for 12 bits stored in 16, as on an AD9361.
    const double full_scale =
        std::ldexp(1.0, static_cast<int>(rx.format().channels[0].type.bits) - 1);
    for (const iio_stream::Block& block : rx) {
        const auto samples = block.as<Sample>();
        const std::array<double, bins> power = spectrum(samples.span(), full_scale);
        const auto strongest = std::max_element(power.begin(), power.end());
        const double bin = static_cast<double>(strongest - power.begin());
        const double frequency =
            (bin < bins / 2 ? bin : bin - bins) / bins * rx.format().sample_rate;
        std::printf("%+.0f Hz: %.1f dBFS, %zu gaps\n", frequency,
                    10 * std::log10(*strongest + 1e-20), block.gaps().size());
    }
}
