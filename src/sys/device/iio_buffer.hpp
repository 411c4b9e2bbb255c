// SPDX-License-Identifier: MIT
#pragma once

#include "sys/unique_fd.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace iio_stream::sys {

/// IIO_BUFFER_GET_FD: the file of buffer `index` of an open /dev/iio:deviceN. Made non-blocking:
/// ENQUEUE on a blocking one waits up to 5 s for other devices' fences.
UniqueFd iio_buffer_fd(int device_fd, const std::string& device, int index);

/// Processes ("1234 iiod") that have a buffer's file open without its device's, as libiio 1.x does.
/// /dev does not show them, and closing the device file then frees their blocks on Analog Devices'
/// kernels before May 2026. Which buffer it is cannot be known. Only root sees the processes of
/// others.
std::vector<std::string> iio_buffer_holders();

/// How a driver answered ATTACH: expected outcomes, hence values.
enum class Attach { done, refused, busy };

/// IIO_BUFFER_DMABUF_ATTACH. `refused` (with errno left in `error`) is how kernels and drivers
/// without the interface answer: EPERM, ENODEV, ENOTTY, EINVAL, ENOSYS.
Attach iio_attach(int buffer_fd, int dmabuf_fd, int& error);

/// IIO_BUFFER_DMABUF_DETACH; it fails only if nothing is attached any more.
void iio_detach(int buffer_fd, int dmabuf_fd) noexcept;

/// IIO_BUFFER_DMABUF_ENQUEUE. Returns 0 or the errno: the caller decides about EBUSY and ENOMEM.
/// `cyclic` (output only): repeat until the buffer is disabled. Linux before 7.3 accepts the flag
/// and plays the block once.
int iio_enqueue(int buffer_fd, int dmabuf_fd, std::size_t bytes, bool cyclic = false) noexcept;

/// Whether the buffer takes DMABUFs: ATTACH of fd -1 answers EBADF if it does.
/// Returns 0, or the errno that says it does not.
int iio_dmabuf_unsupported(int buffer_fd) noexcept;

} // namespace iio_stream::sys
