// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/stats.hpp"

#include <chrono>
#include <string>

namespace iio_stream::compat {

/// Reports on stderr what a stream has lost, once a second at most, and the rest at its end.
class Losses {
public:
    explicit Losses(std::string device) : device_(std::move(device)) {}

    bool due() const noexcept { return std::chrono::steady_clock::now() >= next_; }
    void report(const Stats& stats);

private:
    std::string device_;
    GapTotals told_;
    std::uint64_t underflows_told_ = 0;
    std::chrono::steady_clock::time_point next_{};
};

} // namespace iio_stream::compat
