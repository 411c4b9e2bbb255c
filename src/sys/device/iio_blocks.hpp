// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace iio_stream::sys {

/// The maximum number of blocks of a buffer, and the maximum size of a block in bytes, in Analog
/// Devices' kernels.
inline constexpr std::size_t kMaxIioBlocks = 64;
inline constexpr std::size_t kMaxIioBlockBytes = std::size_t{16} << 20;

/// A block of kernel memory, as the kernel describes it.
struct IioBlock {
    std::uint32_t id = 0;
    std::size_t bytes = 0;    ///< size of the block
    std::size_t used = 0;     ///< bytes of samples in the block
    std::uint64_t offset = 0; ///< offset of the block in the file, for mmap()
};

/// IIO_BLOCK_FREE_IOCTL: frees all blocks of the buffer. Returns 0 or the errno. It also succeeds
/// on a buffer without DMA. It affects the buffer even while another process streams from it, so
/// the caller must acquire the buffer's file first.
int iio_blocks_free(int fd) noexcept;

/// IIO_BLOCK_ALLOC_IOCTL: adds up to `count` blocks of `bytes` each. Returns the number of blocks
/// that the kernel has made, which can be smaller or even 0 without an error. On failure, returns 0
/// with the errno in `error`. The kernel can also make smaller blocks; `bytes` is set to their
/// size.
std::size_t iio_blocks_alloc(int fd, std::size_t& bytes, std::size_t count, int& error) noexcept;

/// IIO_BLOCK_QUERY_IOCTL. Throws an Error that names the block.
IioBlock iio_block_query(int fd, std::uint32_t id);

/// IIO_BLOCK_ENQUEUE_IOCTL: gives the block to the device. Returns 0 or the errno. Two parameters
/// apply only to output: `bytes` is the length, and with `cyclic` the device repeats the block
/// until the buffer is disabled.
int iio_block_enqueue(int fd, std::uint32_t id, std::size_t bytes, bool cyclic = false) noexcept;

/// IIO_BLOCK_DEQUEUE_IOCTL on a non-blocking file. Returns the next block that the device has
/// finished. Returns nullopt with 0 in `error` if there is none yet, and nullopt with the errno in
/// `error` on failure.
std::optional<IioBlock> iio_block_dequeue(int fd, int& error) noexcept;

/// Maps a block over the address range at `place`, or at any address if `place` is null. The
/// mapping keeps the device open until it is unmapped. Throws an Error.
void* map_iio_block(int fd, const IioBlock& block, bool writable, void* place);

} // namespace iio_stream::sys
