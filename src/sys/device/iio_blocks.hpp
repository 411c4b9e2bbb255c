// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace iio_stream::sys {

/// The most blocks that a buffer has, and the most bytes that a block has, in Analog Devices'
/// kernels.
inline constexpr std::size_t kMaxIioBlocks = 64;
inline constexpr std::size_t kMaxIioBlockBytes = std::size_t{16} << 20;

/// A block of kernel memory, as the kernel describes it.
struct IioBlock {
    std::uint32_t id = 0;
    std::size_t bytes = 0;    ///< its size
    std::size_t used = 0;     ///< bytes that hold samples
    std::uint64_t offset = 0; ///< where mmap() finds it in the file
};

/// IIO_BLOCK_FREE_IOCTL: gives all blocks of the buffer back. Returns 0 or the errno. It succeeds
/// on a buffer without DMA as well. It acts on the buffer even while another process streams from
/// it: take the buffer's file first.
int iio_blocks_free(int fd) noexcept;

/// IIO_BLOCK_ALLOC_IOCTL: adds up to `count` blocks of `bytes` each. Returns how many the kernel
/// made, which can be fewer and even none without an error; on failure returns 0 with the errno in
/// `error`. The kernel may also make them smaller: `bytes` is then their size.
std::size_t iio_blocks_alloc(int fd, std::size_t& bytes, std::size_t count, int& error) noexcept;

/// IIO_BLOCK_QUERY_IOCTL. Throws an Error that names the block.
IioBlock iio_block_query(int fd, std::uint32_t id);

/// IIO_BLOCK_ENQUEUE_IOCTL: gives the block to the device; `bytes` counts for output only. Returns
/// 0 or the errno. `cyclic` (output only): the device repeats the block until the buffer is
/// disabled.
int iio_block_enqueue(int fd, std::uint32_t id, std::size_t bytes, bool cyclic = false) noexcept;

/// IIO_BLOCK_DEQUEUE_IOCTL on a non-blocking file: the next block that the device has finished;
/// nullopt with `error` 0 if there is none yet, otherwise with the errno.
std::optional<IioBlock> iio_block_dequeue(int fd, int& error) noexcept;

/// Maps a block over the address range at `place`, or anywhere if it is null. The mapping keeps the
/// device open until it is unmapped. Throws an Error.
void* map_iio_block(int fd, const IioBlock& block, bool writable, void* place);

} // namespace iio_stream::sys
