// SPDX-License-Identifier: MIT
#pragma once

#include "sys/fail.hpp"

#include <cerrno>
#include <cstddef>
#include <liburing.h>
#include <string>

namespace iio_stream::sys {

/// Owns an io_uring.
struct Uring {
    /// `path` is the object that an Error names. Throws Error.
    Uring(const std::string& path, std::size_t requests)
    {
        const auto entries = static_cast<unsigned>(requests);
        // Completions need not interrupt the thread: it enters the kernel often, and while it
        // sleeps they wake it. Kernels before 5.19 do not know the flag. SINGLE_ISSUER does not
        // fit, because another thread ends a recording, and DEFER_TASKRUN requires it.
        int error = ::io_uring_queue_init(entries, &ring, IORING_SETUP_COOP_TASKRUN);
        if (error == -EINVAL)
            error = ::io_uring_queue_init(entries, &ring, 0);
        if (error < 0)
            fail(-error, "io_uring_setup", path);
    }
    Uring(const Uring&) = delete;
    ~Uring() { ::io_uring_queue_exit(&ring); }

    io_uring ring{};
};

} // namespace iio_stream::sys
