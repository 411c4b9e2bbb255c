// SPDX-License-Identifier: MIT
#pragma once

#include "metrics.hpp"
#include <iio_stream/endpoint.hpp>

#include <chrono>
#include <string>
#include <vector>

namespace iio_stream::compat {

/// Reports what a stream has lost on stderr and to the metrics file, once a second at most, and the
/// rest at its end.
class Losses {
public:
    explicit Losses(const std::string& device) : device_(device), metrics_(device) {}

    bool due() const noexcept { return std::chrono::steady_clock::now() >= next_; }
    void report(const Stats& stats);
    /// If the kernel's own way was not to be had, why; once for each device.
    void begin(const std::vector<Hop>& route);

private:
    std::string device_;
    Metrics metrics_;
    GapTotals told_;
    std::uint64_t underflows_told_ = 0;
    std::chrono::steady_clock::time_point next_{};
};

} // namespace iio_stream::compat
