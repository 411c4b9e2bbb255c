// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/stats.hpp"

#include <string>

namespace iio_stream::compat {

/// One stream's share of the process's metrics file, which counts by device: a program may open and
/// close a device's buffer as often as it likes. Does nothing without IIO_STREAM_METRICS_FILE.
/// Thread: any.
class Metrics {
public:
    explicit Metrics(std::string device);
    void update(const Stats& now);

private:
    std::string device_;
    Stats counted_; ///< of this stream, and in the file already
};

} // namespace iio_stream::compat
