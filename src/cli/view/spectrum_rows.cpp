// SPDX-License-Identifier: MIT
#include "cli/view/spectrum_rows.hpp"

#include <algorithm>
#include <numeric>

namespace iio_stream::cli {

SpectrumRows::SpectrumRows(std::size_t bins, std::size_t rows, std::size_t frame)
    : bins_(bins), rows_(2 * rows), row_samples_(frame), power_(rows_ * bins), spectra_(rows_)
{}

void SpectrumRows::add(std::span<const double> power, std::uint64_t sample)
{
    while (sample / row_samples_ >= rows_)
        merge();
    const auto row = static_cast<std::size_t>(sample / row_samples_);
    for (std::size_t bin = 0; bin < bins_; ++bin)
        power_[row * bins_ + bin] += power[bin];
    ++spectra_[row];
    used_ = std::max(used_, row + 1);
}

void SpectrumRows::merge()
{
    for (std::size_t row = 0; row < rows_; ++row) {
        const std::size_t into = row / 2;
        for (std::size_t bin = 0; bin < bins_; ++bin) {
            const double power = row % 2 == 0 ? 0 : power_[into * bins_ + bin];
            power_[into * bins_ + bin] = power + power_[row * bins_ + bin];
        }
        spectra_[into] = (row % 2 == 0 ? 0 : spectra_[into]) + spectra_[row];
    }
    std::fill(power_.begin() + static_cast<std::ptrdiff_t>(rows_ / 2 * bins_), power_.end(), 0.0);
    std::fill(spectra_.begin() + static_cast<std::ptrdiff_t>(rows_ / 2), spectra_.end(), 0U);
    used_ = (used_ + 1) / 2;
    row_samples_ *= 2;
}

std::vector<double> SpectrumRows::row(std::size_t number) const
{
    if (spectra_[number] == 0)
        return {};
    const auto first = power_.begin() + static_cast<std::ptrdiff_t>(number * bins_);
    std::vector<double> mean(first, first + static_cast<std::ptrdiff_t>(bins_));
    for (double& power : mean)
        power /= static_cast<double>(spectra_[number]);
    return mean;
}

std::vector<double> SpectrumRows::mean() const
{
    const auto all = std::accumulate(spectra_.begin(), spectra_.end(), std::uint64_t{0});
    std::vector<double> mean(bins_);
    for (std::size_t row = 0; row < rows_; ++row)
        for (std::size_t bin = 0; bin < bins_; ++bin)
            mean[bin] += power_[row * bins_ + bin];
    for (double& power : mean)
        power /= static_cast<double>(std::max<std::uint64_t>(all, 1));
    return mean;
}

} // namespace iio_stream::cli
