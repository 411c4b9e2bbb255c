// SPDX-License-Identifier: MIT
#pragma once

#include "iio/buffer_dir.hpp"
#include "iio/buffer_file.hpp"

namespace iio_stream::iio {

/// The kernel's own blocks are contiguous pages, of which it has no more in one piece (x86, no CMA).
inline constexpr std::size_t kMaxKernelBlock = 4 << 20;

/// Makes sure that the first read() of the next stream returns the first samples.
///
/// Linux 6.10 to 6.12 (at least) read a DMA buffer's two blocks in turn by an index that they never
/// reset (fileio.next_dequeue in industrialio-buffer-dma.c): after a stream of which an odd number
/// of blocks was read, by whatever program, the next stream's second block is read before its first.
/// The index cannot be read, but found out: enabled for a moment, the buffer whose first block is
/// full gives data if the index stands at the first block, and none if it stands at the second.
///
/// True when it stands at the first block now; false where it could not be found out, because the
/// device fills both blocks before one can look. `block_size` is a size that takes a few
/// milliseconds to fill. Leaves the buffer disabled. Throws what the kernel says.
bool settle_read_order(BufferDir& dir, const BufferFile& file, const Format& format,
                       std::size_t block_size);

} // namespace iio_stream::iio
