// SPDX-License-Identifier: MIT
#pragma once

#include "sys/unique_fd.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace iio_stream::sys {

/// Allocates `bytes` (rounded up to pages by the kernel) from an open /dev/dma_heap file.
UniqueFd dma_heap_alloc(int heap_fd, const std::string& heap, std::size_t bytes);

/// A sealed memfd of `bytes`, on huge pages of `huge_bytes` where that is not 0.
/// Without huge pages to be had, an invalid fd.
UniqueFd sealed_memfd(std::size_t bytes, std::size_t huge_bytes);

/// Makes a DMABUF of a page-aligned range of a sealed memfd.
UniqueFd udmabuf_create(int udmabuf_fd, int memfd, std::size_t offset, std::size_t bytes);

/// Another fd of the same DMABUF.
UniqueFd dmabuf_duplicate(int dmabuf_fd);

/// The size of a DMABUF in bytes.
std::size_t dmabuf_size(int dmabuf_fd);

enum class CpuAccess : std::uint64_t { read = 1, write = 2, read_write = 3 };

/// DMA_BUF_IOCTL_SYNC. Begin hangs without limit while a fence of the DMABUF is unsignalled.
void dmabuf_begin_cpu(int dmabuf_fd, CpuAccess access);
void dmabuf_end_cpu(int dmabuf_fd, CpuAccess access) noexcept;

/// A snapshot of all fences, of readers and writers, that the DMABUF carries now.
UniqueFd dmabuf_export_sync_file(int dmabuf_fd);

/// What the kernel knows of the one fence in a sync_file.
struct FenceInfo {
    int status = 0;        ///< 1 signalled, 0 active, -errno failed
    std::int64_t ns = 0;   ///< CLOCK_MONOTONIC at which it signalled; 0 if it has not

    /// Whether it is not the fence of a transfer that was asked for at `asked_ns` or later: that one
    /// had signalled before it could be exported, and the kernel put its stub there, which says
    /// "done" and has the time of its own making. Its name tells on some kernels only: since 7.x at
    /// the latest all that have signalled are called "detached-driver".
    bool pruned(std::int64_t asked_ns) const noexcept { return status > 0 && ns < asked_ns; }
};
FenceInfo sync_file_info(int sync_fd);

/// Has the kernel make its stub, of which it has one for all, if it did not yet: 6.12 makes it, and
/// dates it, when it is first exported. For a DMABUF that nothing is queued of.
void make_stub_fence(int dmabuf_fd);

} // namespace iio_stream::sys
