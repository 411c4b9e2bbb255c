// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/stats.hpp"

#include <string>

namespace iio_stream::compat {

/// Adds the counters of one stream to the metrics file of the process. The file has totals for each
/// device, because a program can open a device's buffer several times. Does nothing without
/// IIO_STREAM_METRICS_FILE. Thread: any.
class Metrics {
public:
    explicit Metrics(std::string device);
    void update(const Stats& now);

private:
    std::string device_;
    Stats counted_; ///< counters of this stream that are already in the file
};

} // namespace iio_stream::compat
