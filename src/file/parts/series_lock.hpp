// SPDX-License-Identifier: MIT
#pragma once

#include "sys/unique_fd.hpp"

#include <string>

namespace iio_stream::file {

/// The lock of a whole recording in parts. The recorder takes it before it searches for older
/// parts, and holds it until the last part is finished. It is an flock() lock on the file NAME.lock
/// next to the parts, which is removed at the end. A lock file that a killed recorder has left
/// behind locks nothing.
class SeriesLock {
public:
    SeriesLock() = default;
    /// `series`: the name of the data files without their number. Throws EBUSY if another recorder
    /// has the lock.
    explicit SeriesLock(const std::string& series);
    SeriesLock(SeriesLock&& other) noexcept = default;
    SeriesLock& operator=(SeriesLock&& other) noexcept;
    ~SeriesLock() { release(); }

    void release() noexcept;

private:
    std::string path_;
    sys::UniqueFd fd_;
};

/// Whether a recorder has the lock.
bool is_series_locked(const std::string& series);

/// Removes a lock file that a killed recorder has left behind.
void clear_series_lock(const std::string& series) noexcept;

} // namespace iio_stream::file
