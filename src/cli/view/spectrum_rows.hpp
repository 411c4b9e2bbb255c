// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace iio_stream::cli {

/// The rows of a waterfall of unknown length. A row is the mean of the spectra that begin in it.
/// When all rows are full, every two rows are merged into one. Thread: one.
class SpectrumRows {
public:
    /// Between `rows` and 2 * `rows` rows, unless there are fewer spectra. `frame`: samples of a
    /// spectrum.
    SpectrumRows(std::size_t bins, std::size_t rows, std::size_t frame);

    /// Adds the powers of the spectrum whose frame begins at this sample.
    void add(std::span<const double> power, std::uint64_t sample);

    std::size_t count() const noexcept { return used_; } ///< rows up to the last spectrum
    std::uint64_t row_samples() const noexcept { return row_samples_; }
    /// The mean powers of a row; empty if no spectrum begins in it.
    std::vector<double> row(std::size_t number) const;
    /// The mean powers of all spectra.
    std::vector<double> mean() const;

private:
    void merge();

    std::size_t bins_, rows_;
    std::uint64_t row_samples_;
    std::size_t used_ = 0;
    std::vector<double> power_; ///< rows_ × bins_
    std::vector<std::uint64_t> spectra_;
};

} // namespace iio_stream::cli
