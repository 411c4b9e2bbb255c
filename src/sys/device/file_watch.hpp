// SPDX-License-Identifier: MIT
#pragma once

#include "sys/unique_fd.hpp"

#include <string>
#include <vector>

namespace iio_stream::sys {

/// Detects writes to files, including those in sysfs, by any program. It does not detect changes by
/// the kernel itself. If the system does not support watches, it detects nothing. Some kernels take
/// milliseconds to close a watch, so it is created only by begin().
class FileWatch {
public:
    /// Adds a file, or a folder to watch all files in it.
    void add(const std::string& path) { paths_.push_back(path); }
    /// Detects writes from now on.
    void begin() noexcept;
    /// Returns a file descriptor that is readable after a file was written; -1 without a watch.
    int fd() const noexcept { return fd_.get(); }
    /// Returns whether a file has been written since the last call.
    bool take() noexcept;

private:
    std::vector<std::string> paths_;
    UniqueFd fd_;
};

} // namespace iio_stream::sys
