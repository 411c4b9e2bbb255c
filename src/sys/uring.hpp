// SPDX-License-Identifier: MIT
#pragma once

#include "sys/fail.hpp"

#include <cstddef>
#include <liburing.h>
#include <string>

namespace iio_stream::sys {

/// Owns an io_uring.
struct Uring {
    /// `path` is the object that an Error names. Throws Error.
    Uring(const std::string& path, std::size_t requests)
    {
        const int error = ::io_uring_queue_init(static_cast<unsigned>(requests), &ring, 0);
        if (error < 0)
            fail(-error, "io_uring_setup", path);
    }
    Uring(const Uring&) = delete;
    ~Uring() { ::io_uring_queue_exit(&ring); }

    io_uring ring{};
};

} // namespace iio_stream::sys
