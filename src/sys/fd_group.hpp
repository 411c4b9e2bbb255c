// SPDX-License-Identifier: MIT
#pragma once

#include "sys/unique_fd.hpp"

namespace iio_stream::sys {

/// Several file descriptors to wait for as one (epoll): readable when one of them is ready.
class FdGroup {
public:
    FdGroup();
    int fd() const noexcept { return fd_.get(); }
    void add(int fd, short events); ///< poll()'s
    void remove(int fd) noexcept;

private:
    UniqueFd fd_;
};

} // namespace iio_stream::sys
