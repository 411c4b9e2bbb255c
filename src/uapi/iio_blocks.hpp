// SPDX-License-Identifier: MIT
// The block interface of Analog Devices' kernels (CONFIG_IIO_DMA_BUF_MMAP_LEGACY). No mainline
// kernel has it, so Debian's headers lack it; docs/kernels.md lists the sources.
// tests/unit/sys/test_uapi.cpp checks the values and the layout.
#pragma once

#include <linux/ioctl.h>
#include <linux/types.h>

namespace iio_stream::uapi {

struct iio_buffer_block_alloc_req {
    __u32 type;
    __u32 size;
    __u32 count;
    __u32 id;
};

struct iio_buffer_block {
    __u32 id;
    __u32 size;
    __u32 bytes_used;
    __u32 type;
    __u32 flags;
    __u32 offset;
    __u64 timestamp;
};

inline constexpr __u32 kIioBlockCyclic = 2; ///< flags: output buffers only
inline constexpr __u32 kIioMaxBlocks = 64;
inline constexpr __u32 kIioMaxBlockBytes = 16 << 20;

inline constexpr unsigned long kIioBlockAlloc = _IOWR('i', 0xa0, iio_buffer_block_alloc_req);
inline constexpr unsigned long kIioBlockFree = _IO('i', 0xa1);
inline constexpr unsigned long kIioBlockQuery = _IOWR('i', 0xa2, iio_buffer_block);
inline constexpr unsigned long kIioBlockEnqueue = _IOWR('i', 0xa3, iio_buffer_block);
inline constexpr unsigned long kIioBlockDequeue = _IOWR('i', 0xa4, iio_buffer_block);

} // namespace iio_stream::uapi
