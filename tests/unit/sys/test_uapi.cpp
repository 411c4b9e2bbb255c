// SPDX-License-Identifier: MIT
// The kernel's ABI numbers, as its own headers define them (kernel 6.12: linux/iio/buffer.h and
// linux/usb/functionfs.h).
#include "uapi/functionfs.hpp"
#include "uapi/iio_blocks.hpp"
#include "uapi/iio_buffer.hpp"

#include <cstddef>
#include <gtest/gtest.h>

namespace {

using namespace iio_stream::uapi;

static_assert(sizeof(iio_dmabuf) == 16);
static_assert(offsetof(iio_dmabuf, flags) == 4 && offsetof(iio_dmabuf, bytes_used) == 8);
static_assert(kIioBufferGetFd == 0xc0046991);
static_assert(kIioDmabufAttach == 0x40046992);
static_assert(kIioDmabufDetach == 0x40046993);
static_assert(kIioDmabufEnqueue == 0x40106994);
static_assert(kIioDmabufCyclic == 1);

// docs/kernels.md names the sources of these numbers. No header of Debian contains them.
static_assert(sizeof(iio_buffer_block_alloc_req) == 16 &&
              offsetof(iio_buffer_block_alloc_req, count) == 8);
static_assert(sizeof(iio_buffer_block) == 32);
static_assert(offsetof(iio_buffer_block, bytes_used) == 8 &&
              offsetof(iio_buffer_block, offset) == 20);
static_assert(kIioBlockAlloc == 0xc01069a0);
static_assert(kIioBlockFree == 0x69a1);
static_assert(kIioBlockQuery == 0xc02069a2);
static_assert(kIioBlockEnqueue == 0xc02069a3);
static_assert(kIioBlockDequeue == 0xc02069a4);
static_assert(kIioBlockCyclic == 2);

static_assert(sizeof(usb_ffs_dmabuf_transfer_req) == 16);
static_assert(offsetof(usb_ffs_dmabuf_transfer_req, flags) == 4 &&
              offsetof(usb_ffs_dmabuf_transfer_req, length) == 8);
static_assert(kFfsDmabufAttach == 0x40046783);
static_assert(kFfsDmabufDetach == 0x40046784);
static_assert(kFfsDmabufTransfer == 0x40106785);

TEST(Uapi, TheAbiIsCheckedAtCompileTime)
{
    SUCCEED();
}

} // namespace
