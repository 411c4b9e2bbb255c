// SPDX-License-Identifier: MIT
#pragma once

#include "sys/unique_fd.hpp"

#include <cstddef>
#include <string>

namespace iio_stream::sys {

/// IIO_BUFFER_GET_FD: the file of buffer `index` of an open /dev/iio:deviceN, made non-blocking,
/// since ENQUEUE on a blocking one waits up to 5 s for foreign fences.
UniqueFd iio_buffer_fd(int device_fd, const std::string& device, int index);

/// What a driver said to a DMABUF: an expected answer, hence a value.
enum class Attach { done, refused, busy };

/// IIO_BUFFER_DMABUF_ATTACH. `refused` (with errno left in `error`) is how kernels and drivers
/// without the interface answer: EPERM, ENODEV, ENOTTY, EINVAL, ENOSYS.
Attach iio_attach(int buffer_fd, int dmabuf_fd, int& error);

/// IIO_BUFFER_DMABUF_DETACH; a failure means that there is nothing left to detach.
void iio_detach(int buffer_fd, int dmabuf_fd) noexcept;

/// IIO_BUFFER_DMABUF_ENQUEUE. Returns 0 or the errno: EBUSY and ENOMEM are the caller's to judge.
/// `cyclic` (output only): to be repeated until the buffer is disabled. Linux before 7.3 takes the
/// flag and plays the block once.
int iio_enqueue(int buffer_fd, int dmabuf_fd, std::size_t bytes, bool cyclic = false) noexcept;

/// Whether the buffer takes DMABUFs: ATTACH of fd -1 answers EBADF where it does.
/// Returns 0, or the errno that says it does not.
int iio_dmabuf_unsupported(int buffer_fd) noexcept;

} // namespace iio_stream::sys
