// SPDX-License-Identifier: MIT
#pragma once

#include "sys/unique_fd.hpp"

#include <string>
#include <vector>

namespace iio_stream::sys {

/// Notices writes to files by any program, including those in sysfs; not changes by the kernel
/// itself. If the system provides no watch, nothing is noticed.
/// Some kernels take milliseconds to close a watch, so it exists only from begin() on.
class FileWatch {
public:
    /// A folder means the files in it.
    void add(const std::string& path) { paths_.push_back(path); }
    /// Notices writes from now on.
    void begin() noexcept;
    /// Readable after a file was written; -1 without a watch.
    int fd() const noexcept { return fd_.get(); }
    /// Whether one was written since the last call.
    bool take() noexcept;

private:
    std::vector<std::string> paths_;
    UniqueFd fd_;
};

} // namespace iio_stream::sys
