// SPDX-License-Identifier: MIT
#pragma once

#include <complex>
#include <cstddef>
#include <span>
#include <vector>

namespace iio_stream::cli {

/// Computes power spectra with a flat-top window, which shows the level of a tone at any frequency
/// within 0.01 dB. Thread: one.
class Spectrum {
public:
    /// `bins`: a power of two. The bins of an I/Q pair cover -1/2 to 1/2 of the sample rate, and
    /// those of a real channel 0 to 1/2.
    Spectrum(bool is_complex, std::size_t bins);

    std::size_t frame() const noexcept { return window_.size(); } ///< samples of a spectrum
    std::size_t bins() const noexcept { return bins_; }
    /// The frequency of a bin in cycles per sample.
    double frequency(std::size_t bin) const noexcept;
    /// Adds the power of each bin of a frame, which may be shorter than frame(), to `power`. A tone
    /// at full scale has power 1.
    void add(std::span<const std::complex<float>> frame, std::span<double> power);

private:
    void transform() noexcept;

    bool is_complex_;
    std::size_t bins_;
    std::vector<double> window_;
    std::vector<std::complex<double>> turns_; ///< e^(-2πi k / length), for the lower half of k
    std::vector<std::complex<double>> work_;
};

/// Converts a power relative to full scale to dBFS, at least -200.
double decibels(double power) noexcept;

} // namespace iio_stream::cli
