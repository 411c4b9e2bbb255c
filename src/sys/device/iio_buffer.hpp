// SPDX-License-Identifier: MIT
#pragma once

#include "sys/unique_fd.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace iio_stream::sys {

/// IIO_BUFFER_GET_FD: returns the file of buffer `index` of an open /dev/iio:deviceN. The file is
/// set to non-blocking, because ENQUEUE on a blocking file waits up to 5 s for the fences of other
/// devices.
UniqueFd iio_buffer_fd(int device_fd, const std::string& device, int index);

/// Returns the processes ("1234 iiod") that have the file of a buffer open but not the file of its
/// device, as libiio 1.x does. The files in /dev do not show them, and on Analog Devices' kernels
/// before May 2026, closing the device file frees their blocks. It is not possible to determine
/// which buffer they have open. Only root sees the processes of other users.
std::vector<std::string> iio_buffer_holders();

/// The result of ATTACH. These outcomes are expected, so they are values and not exceptions.
enum class Attach { done, refused, busy };

/// IIO_BUFFER_DMABUF_ATTACH. Returns `refused`, with the errno in `error`, if the kernel or driver
/// lacks the interface (EPERM, ENODEV, ENOTTY, EINVAL, ENOSYS) or the DMA cannot map the memory
/// (EIO, ENOMEM).
Attach iio_attach(int buffer_fd, int dmabuf_fd, int& error);

/// IIO_BUFFER_DMABUF_DETACH. It fails only if the DMABUF is no longer attached.
void iio_detach(int buffer_fd, int dmabuf_fd) noexcept;

/// IIO_BUFFER_DMABUF_ENQUEUE. Returns 0 or the errno; the caller handles EBUSY and ENOMEM. With
/// `cyclic` (output only), the device repeats the block until the buffer is disabled. Linux before
/// 7.3 accepts the flag but plays the block once.
int iio_enqueue(int buffer_fd, int dmabuf_fd, std::size_t bytes, bool cyclic = false) noexcept;

/// Returns 0 if the buffer accepts DMABUFs, and otherwise the errno of the refusal. The test is
/// ATTACH of fd -1, which fails with EBADF if the buffer accepts DMABUFs.
int iio_dmabuf_unsupported(int buffer_fd) noexcept;

} // namespace iio_stream::sys
