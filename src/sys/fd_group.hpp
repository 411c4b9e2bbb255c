// SPDX-License-Identifier: MIT
#pragma once

#include "sys/unique_fd.hpp"

namespace iio_stream::sys {

/// Combines several file descriptors into one (epoll), which is readable when any of them is ready.
class FdGroup {
public:
    FdGroup();
    int fd() const noexcept { return fd_.get(); }
    void add(int fd, short events); ///< `events` as for poll()
    void remove(int fd) noexcept;

private:
    UniqueFd fd_;
};

} // namespace iio_stream::sys
