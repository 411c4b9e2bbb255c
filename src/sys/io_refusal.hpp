// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>

namespace iio_stream::sys {

/// Why a kind of requests cannot be made on this machine, by this process.
struct IoRefusal {
    int error = 0;    ///< the errno; 0 where nothing refuses
    std::string why;  ///< "io_uring_setup: Operation not permitted (a seccomp filter …)"
    std::string fix; ///< "" where no command does it

    bool refused() const noexcept { return error != 0; }
};

/// Of io_uring.
IoRefusal io_uring_refusal();
/// Of libaio, with so many requests in flight.
IoRefusal aio_refusal(std::size_t requests);

} // namespace iio_stream::sys
