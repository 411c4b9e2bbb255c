// SPDX-License-Identifier: MIT
// Compiles only if our definitions match the kernel's. IIO_HEADER is the kernel's
// linux/iio/buffer.h, FFS_HEADER its linux/usb/functionfs.h, and URING_HEADER its linux/io_uring.h.
#include "uapi/functionfs.hpp"
#include "uapi/iio_buffer.hpp"
#include "uapi/io_uring.hpp"

#include IIO_HEADER
#include FFS_HEADER
#include URING_HEADER

#include <cstddef>

namespace ours = iio_stream::uapi;

#define SAME_FIELD(type, field)                                                                    \
    static_assert(offsetof(ours::type, field) == offsetof(::type, field) &&                        \
                  sizeof(ours::type::field) == sizeof(::type::field))

static_assert(sizeof(ours::iio_dmabuf) == sizeof(::iio_dmabuf));
SAME_FIELD(iio_dmabuf, fd);
SAME_FIELD(iio_dmabuf, flags);
SAME_FIELD(iio_dmabuf, bytes_used);
static_assert(ours::kIioBufferGetFd == IIO_BUFFER_GET_FD_IOCTL);
static_assert(ours::kIioDmabufAttach == IIO_BUFFER_DMABUF_ATTACH_IOCTL);
static_assert(ours::kIioDmabufDetach == IIO_BUFFER_DMABUF_DETACH_IOCTL);
static_assert(ours::kIioDmabufEnqueue == IIO_BUFFER_DMABUF_ENQUEUE_IOCTL);
static_assert(ours::kIioDmabufCyclic == IIO_BUFFER_DMABUF_CYCLIC);

static_assert(sizeof(ours::usb_ffs_dmabuf_transfer_req) == sizeof(::usb_ffs_dmabuf_transfer_req));
SAME_FIELD(usb_ffs_dmabuf_transfer_req, fd);
SAME_FIELD(usb_ffs_dmabuf_transfer_req, flags);
SAME_FIELD(usb_ffs_dmabuf_transfer_req, length);
static_assert(ours::kFfsDmabufAttach == FUNCTIONFS_DMABUF_ATTACH);
static_assert(ours::kFfsDmabufDetach == FUNCTIONFS_DMABUF_DETACH);
static_assert(ours::kFfsDmabufTransfer == FUNCTIONFS_DMABUF_TRANSFER);

static_assert(ours::kUringReportUsage == IORING_SEND_ZC_REPORT_USAGE);
static_assert(ours::kUringUsageCopied == IORING_NOTIF_USAGE_ZC_COPIED);
