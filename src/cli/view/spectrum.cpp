// SPDX-License-Identifier: MIT
#include "cli/view/spectrum.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace iio_stream::cli {

namespace {

// HFT90D of Heinzel, Rüdiger and Schilling, "Spectrum and spectral density estimation by the
// discrete Fourier transform" (2002).
constexpr std::array kFlatTop{1.0, -1.942604, 1.340318, -0.440811, 0.043097};

// Returns a window whose mean is 1: flat-top, or rectangular if there are too few samples for it.
std::vector<double> window_of(std::size_t length)
{
    constexpr std::size_t kFewest = 16;
    std::vector<double> window(length, 1.0 / static_cast<double>(length));
    const double step = 2 * std::numbers::pi / static_cast<double>(length);
    for (std::size_t i = 0; length >= kFewest && i < length; ++i) {
        double sum = 0;
        for (std::size_t order = 0; order < kFlatTop.size(); ++order)
            sum += kFlatTop[order] * std::cos(static_cast<double>(order * i) * step);
        window[i] *= sum;
    }
    return window;
}

} // namespace

double decibels(double power) noexcept
{
    return 10 * std::log10(std::max(power, 1e-20));
}

Spectrum::Spectrum(bool is_complex, std::size_t bins)
    : is_complex_(is_complex),
      bins_(bins),
      window_(window_of(is_complex ? bins : 2 * bins)),
      turns_(window_.size() / 2),
      work_(window_.size())
{
    const double step = 2 * std::numbers::pi / static_cast<double>(window_.size());
    for (std::size_t i = 0; i < turns_.size(); ++i)
        turns_[i] = std::polar(1.0, -step * static_cast<double>(i));
}

double Spectrum::frequency(std::size_t bin) const noexcept
{
    const auto length = static_cast<double>(window_.size());
    return (static_cast<double>(bin) - (is_complex_ ? length / 2 : 0)) / length;
}

void Spectrum::add(std::span<const std::complex<float>> frame, std::span<double> power)
{
    const bool whole = frame.size() == window_.size();
    const std::vector<double> shorter = whole ? std::vector<double>() : window_of(frame.size());
    const std::vector<double>& window = whole ? window_ : shorter;
    for (std::size_t i = 0; i < frame.size(); ++i)
        work_[i] = std::complex<double>(frame[i]) * window[i];
    std::fill(work_.begin() + static_cast<std::ptrdiff_t>(frame.size()), work_.end(), 0.0);
    transform();
    for (std::size_t bin = 0; bin < bins_; ++bin) {
        const std::size_t line = is_complex_ ? (bin + bins_ / 2) % bins_ : bin;
        // The other half of the amplitude of a real tone is at its negative frequency.
        power[bin] += std::norm(work_[line]) * (is_complex_ || bin == 0 ? 1 : 4);
    }
}

// The radix-2 transform of Cooley and Tukey. A library would cost each of the builds a dependency
// to save these lines, and the few hundred transforms per second need no speed.
void Spectrum::transform() noexcept
{
    const std::size_t length = work_.size();
    for (std::size_t i = 1, reversed = 0; i < length; ++i) {
        std::size_t bit = length >> 1;
        for (; (reversed & bit) != 0; bit >>= 1)
            reversed ^= bit;
        reversed ^= bit;
        if (i < reversed)
            std::swap(work_[i], work_[reversed]);
    }
    for (std::size_t half = 1; half < length; half *= 2)
        for (std::size_t begin = 0; begin < length; begin += 2 * half)
            for (std::size_t k = 0; k < half; ++k) {
                const std::complex<double> turn = turns_[k * (length / (2 * half))];
                const std::complex<double> other = work_[begin + half + k];
                const std::complex<double> turned(
                    other.real() * turn.real() - other.imag() * turn.imag(),
                    other.real() * turn.imag() + other.imag() * turn.real());
                work_[begin + half + k] = work_[begin + k] - turned;
                work_[begin + k] += turned;
            }
}

} // namespace iio_stream::cli
