// SPDX-License-Identifier: MIT
// The DMABUF interface of FunctionFS (Linux 6.9), which Debian 12's headers (6.1) lack. tests/uapi
// and tests/unit/sys/test_uapi.cpp compare it with the real headers.
#pragma once

#include <linux/ioctl.h>
#include <linux/types.h>

namespace iio_stream::uapi {

struct usb_ffs_dmabuf_transfer_req {
    int fd;
    __u32 flags;
    __u64 length;
} __attribute__((packed));

inline constexpr unsigned long kFfsDmabufAttach = _IOW('g', 131, int);
inline constexpr unsigned long kFfsDmabufDetach = _IOW('g', 132, int);
inline constexpr unsigned long kFfsDmabufTransfer = _IOW('g', 133, usb_ffs_dmabuf_transfer_req);

} // namespace iio_stream::uapi
