// SPDX-License-Identifier: MIT
// The kernel's IIO buffer and DMABUF definitions (Linux 6.11) that Debian 12's headers (6.1) lack.
// tests/unit/sys/test_uapi.cpp compares the values and the layout with the real headers.
#pragma once

#include <linux/ioctl.h>
#include <linux/types.h>

namespace iio_stream::uapi {

struct iio_dmabuf {
    __u32 fd;
    __u32 flags;
    __u64 bytes_used;
};

inline constexpr __u32 kIioDmabufCyclic = 1; ///< flags: output buffers only

inline constexpr unsigned long kIioBufferGetFd = _IOWR('i', 0x91, int);
inline constexpr unsigned long kIioDmabufAttach = _IOW('i', 0x92, int);
inline constexpr unsigned long kIioDmabufDetach = _IOW('i', 0x93, int);
inline constexpr unsigned long kIioDmabufEnqueue = _IOW('i', 0x94, iio_dmabuf);

} // namespace iio_stream::uapi
