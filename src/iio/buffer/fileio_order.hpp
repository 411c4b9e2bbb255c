// SPDX-License-Identifier: MIT
#pragma once

#include "iio/buffer/buffer_dir.hpp"
#include "iio/buffer/buffer_file.hpp"

namespace iio_stream::iio {

/// The largest kernel block in bytes: it consists of contiguous pages (x86, no CMA).
inline constexpr std::size_t kMaxKernelBlock = 4 << 20;

/// Ensures that the first read() of the next stream returns the first samples.
///
/// Linux 6.10 to 6.12 (at least) read a DMA buffer's two blocks in turn by an index that is never
/// reset (fileio.next_dequeue in industrialio-buffer-dma.c). If any program reads an odd number of
/// blocks from a stream, the second block of the next stream is read before its first. The index
/// cannot be read, but it can be inferred by enabling the buffer briefly. While only the first
/// block is full, read() returns data if the index is at the first block, and none if it is at the
/// second.
///
/// Returns true if the index is at the first block now; false if that is unknown, because the
/// device fills both blocks before the index can be checked. A block of `block_size` bytes should
/// take a few milliseconds to fill. Leaves the buffer disabled. Throws the kernel's errors.
bool ensure_read_order(BufferDir& dir, const BufferFile& file, const Format& format,
                       std::size_t block_size);

} // namespace iio_stream::iio
