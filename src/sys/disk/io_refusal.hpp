// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>

namespace iio_stream::sys {

/// Why this process cannot use a kind of I/O on this machine.
struct IoRefusal {
    int error = 0;   ///< the errno; 0 if it works
    std::string why; ///< "io_uring_setup: Operation not permitted (a seccomp filter …)"
    std::string fix; ///< the command or setting that allows it; "" if there is none

    bool refused() const noexcept { return error != 0; }
};

/// Tests io_uring.
IoRefusal io_uring_refusal();
/// Tests the kernel's older asynchronous I/O (libaio) with that many requests in flight.
IoRefusal aio_refusal(std::size_t requests);

} // namespace iio_stream::sys
