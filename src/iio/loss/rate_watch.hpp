// SPDX-License-Identifier: MIT
#pragma once

#include "sys/device/file_watch.hpp"
#include "sys/unique_fd.hpp"

#include <atomic>
#include <cstdint>
#include <string>

namespace iio_stream::iio {

/// The sample rate of a running device: any program may change it meanwhile, and most drivers allow
/// that.
/// Thread: any, after reset().
class RateWatch {
public:
    /// Adds a folder of sysfs whose files change the rate. An AD9361 has one clock for both
    /// directions, with attributes at the chip and at each converter.
    void watch(const std::string& folder) { written_.add(folder); }
    /// Notices writes to these files from now on.
    void begin_watching() noexcept { written_.begin(); }
    /// Call at the start of a stream with its rate, 0 = unknown. `file`: the attribute in sysfs;
    /// empty = none, and the rate is constant.
    void reset(const std::string& file, double rate);
    /// Reads the attribute and returns the highest rate seen by any of these calls. 0 = unknown:
    /// there is none, or it cannot be read now.
    double highest() noexcept;
    /// The same, from a reading up to kFresh old at `now_ns`: reading sysfs costs as much as a
    /// block of 64 KiB.
    double highest_lately(std::int64_t now_ns) noexcept;
    static constexpr std::int64_t kFresh = 10'000'000;
    /// How often these calls have found another rate than the call before, and the rate of the last
    /// one.
    unsigned changes() const noexcept { return changes_; }
    double latest() const noexcept { return latest_; }

    /// Reads it if a file in those folders was written: a rate that goes up and down again counts
    /// if it lasts until then.
    void read_if_written() noexcept;
    int written_fd() const noexcept
    {
        return written_.fd();
    } ///< readable when read_if_written() is due

private:
    sys::UniqueFd file_;
    sys::FileWatch written_;
    std::atomic<double> highest_{0};
    std::atomic<double> latest_highest_{0}; ///< what highest() returned
    std::atomic<double> latest_{0};         ///< the rate that it has read
    std::atomic<unsigned> changes_{0};
    std::atomic<std::int64_t> read_ns_{0}; ///< when; 0 = not yet
};

} // namespace iio_stream::iio
