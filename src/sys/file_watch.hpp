// SPDX-License-Identifier: MIT
#pragma once

#include "sys/unique_fd.hpp"

#include <string>

namespace iio_stream::sys {

/// Notices writes to files by any program, those of sysfs included; not what the kernel changes of
/// itself. Where the system gives no watch nothing is noticed.
class FileWatch {
public:
    FileWatch() noexcept;
    void add(const std::string& path) noexcept;
    /// Readable once a file was written to; -1 without a watch.
    int fd() const noexcept { return fd_.get(); }
    /// Whether one was, since this was last asked.
    bool take() noexcept;

private:
    UniqueFd fd_;
};

} // namespace iio_stream::sys
