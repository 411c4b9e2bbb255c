// SPDX-License-Identifier: MIT
// Compiles only if our definitions are the kernel's own; KERNEL_HEADER is its linux/iio/buffer.h.
#include "uapi/iio_buffer.hpp"

#include KERNEL_HEADER

#include <cstddef>

namespace ours = iio_stream::uapi;

#define SAME_FIELD(field)                                                                          \
    static_assert(offsetof(ours::iio_dmabuf, field) == offsetof(::iio_dmabuf, field) &&            \
                  sizeof(ours::iio_dmabuf::field) == sizeof(::iio_dmabuf::field))

static_assert(sizeof(ours::iio_dmabuf) == sizeof(::iio_dmabuf));
SAME_FIELD(fd);
SAME_FIELD(flags);
SAME_FIELD(bytes_used);
static_assert(ours::kIioBufferGetFd == IIO_BUFFER_GET_FD_IOCTL);
static_assert(ours::kIioDmabufAttach == IIO_BUFFER_DMABUF_ATTACH_IOCTL);
static_assert(ours::kIioDmabufDetach == IIO_BUFFER_DMABUF_DETACH_IOCTL);
static_assert(ours::kIioDmabufEnqueue == IIO_BUFFER_DMABUF_ENQUEUE_IOCTL);
