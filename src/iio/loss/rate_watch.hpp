// SPDX-License-Identifier: MIT
#pragma once

#include "sys/device/file_watch.hpp"
#include "sys/unique_fd.hpp"

#include <atomic>
#include <cstdint>
#include <string>

namespace iio_stream::iio {

/// The sample rate of a running device. Any program can change it during a stream, and most drivers
/// allow that.
/// Thread: any, after reset().
class RateWatch {
public:
    /// Adds a sysfs folder whose files can change the rate. An AD9361 has one clock for both
    /// directions, with attributes at the chip and at each converter.
    void watch(const std::string& folder) { written_.add(folder); }
    /// Notices writes to these files from now on.
    void begin_watching() noexcept { written_.begin(); }
    /// Call at the start of a stream with its rate, 0 = unknown. `file`: the attribute in sysfs;
    /// empty = none, and the rate is constant.
    void reset(const std::string& file, double rate);
    /// Reads the attribute and returns the highest rate seen by any of these calls. 0 = unknown:
    /// the stream has no rate, or the attribute cannot be read now.
    double highest() noexcept;
    /// The same, from a reading that is up to kFresh nanoseconds old at `now_ns`, because a read
    /// from sysfs takes as long as processing a block of 64 KiB.
    double highest_lately(std::int64_t now_ns) noexcept;
    static constexpr std::int64_t kFresh = 10'000'000;
    /// The number of readings that found a different rate from the previous reading, and the rate
    /// of the last reading.
    unsigned changes() const noexcept { return changes_; }
    double latest() const noexcept { return latest_; }

    /// Reads the rate if a file in the watched folders was written. A temporary rise of the rate
    /// counts if it lasts until this call.
    void read_if_written() noexcept;
    /// A file that is readable when read_if_written() is due.
    int written_fd() const noexcept { return written_.fd(); }

private:
    sys::UniqueFd file_;
    sys::FileWatch written_;
    std::atomic<double> highest_{0};
    std::atomic<double> latest_highest_{0}; ///< last result of highest()
    std::atomic<double> latest_{0};         ///< the rate that highest() last read
    std::atomic<unsigned> changes_{0};
    std::atomic<std::int64_t> read_ns_{0}; ///< time of that read; 0 = none yet
};

} // namespace iio_stream::iio
