// SPDX-License-Identifier: MIT
#pragma once

#include "sys/unique_fd.hpp"

#include <atomic>
#include <string>

namespace iio_stream::iio {

/// The sample rate of a device that streams: any program may change it meanwhile, and most drivers let
/// it. Thread: any, after reset().
class RateWatch {
public:
    /// From the start of a stream at that rate, 0 = unknown. `file`: the attribute in sysfs; empty =
    /// none, and the rate stays as it is.
    void reset(const std::string& file, double rate);
    /// Reads the attribute and returns the highest rate that it has had at any of these calls. 0 =
    /// unknown: there is none, or it cannot be read now.
    double highest() noexcept;

private:
    sys::UniqueFd file_;
    std::atomic<double> highest_{0};
};

} // namespace iio_stream::iio
