// SPDX-License-Identifier: MIT
#pragma once

#include "metrics.hpp"
#include <iio_stream/endpoint.hpp>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace iio_stream::compat {

/// Reports the losses of a stream on stderr and in the metrics file, whatever the program does. A
/// thread of the process reads the counters ten times a second. The rest is reported when the
/// stream ends or the process exits. If a signal ends the process, losses of the last tenth of a
/// second may not be reported. Thread: one; `stats` is called on any thread.
class Losses {
public:
    /// `stats` is called until end() returns.
    Losses(const std::string& device, std::function<Stats()> stats)
        : device_(device), stats_(std::move(stats)), metrics_(device)
    {}
    ~Losses(); ///< calls end(), and reports nothing

    /// Starts the reports. If samples are read by read(), prints the reason once for each device.
    void begin(const std::vector<Hop>& route);
    /// Call it before the stream is closed. `stats` is not called again.
    void end();
    /// Reports the final counters, after end().
    void report(const Stats& stats);
    /// Called on the reporting thread. `all`: updates the metrics file even if nothing is new.
    void report_now(bool all);

private:
    bool tell(const Stats& stats); ///< prints new losses; returns whether there were any

    std::string device_;
    std::function<Stats()> stats_;
    Metrics metrics_;
    GapTotals told_;
    std::uint64_t underflows_told_ = 0;
    std::chrono::steady_clock::time_point next_metrics_{};
};

} // namespace iio_stream::compat
