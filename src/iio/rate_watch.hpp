// SPDX-License-Identifier: MIT
#pragma once

#include "sys/unique_fd.hpp"

#include <atomic>
#include <cstdint>
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
    /// The same, from a reading that may be kFresh old at `now_ns`: a read of sysfs costs as much as a block of
    /// 64 KiB does.
    double highest_lately(std::int64_t now_ns) noexcept;
    static constexpr std::int64_t kFresh = 10'000'000;

private:
    sys::UniqueFd file_;
    std::atomic<double> highest_{0};
    std::atomic<double> latest_{0};        ///< what highest() returned
    std::atomic<std::int64_t> read_ns_{0}; ///< when; 0 = not yet
};

} // namespace iio_stream::iio
