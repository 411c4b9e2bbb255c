// SPDX-License-Identifier: MIT
#pragma once

#include "sys/unique_fd.hpp"

#include <string>

namespace iio_stream::sys {

/// Notices writes to files by any program, including those in sysfs; not changes by the kernel
/// itself. If the system provides no watch, nothing is noticed.
class FileWatch {
public:
    FileWatch() noexcept;
    void add(const std::string& path) noexcept; ///< a folder means the files in it
    /// Readable after a file was written; -1 without a watch.
    int fd() const noexcept { return fd_.get(); }
    /// Whether one was written since the last call.
    bool take() noexcept;

private:
    UniqueFd fd_;
};

} // namespace iio_stream::sys
