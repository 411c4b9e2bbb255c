// SPDX-License-Identifier: MIT
#pragma once

#include "sys/unique_fd.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace iio_stream::sys {

/// Allocates `bytes` (rounded up to pages by the kernel) from an open /dev/dma_heap file.
UniqueFd dma_heap_alloc(int heap_fd, const std::string& heap, std::size_t bytes);

/// A sealed memfd of `bytes`, on huge pages of `huge_bytes` unless that is 0. An invalid fd if
/// there are no huge pages.
UniqueFd sealed_memfd(std::size_t bytes, std::size_t huge_bytes);

/// Makes a DMABUF of a page-aligned range of a sealed memfd.
UniqueFd udmabuf_create(int udmabuf_fd, int memfd, std::size_t offset, std::size_t bytes);

/// Another fd of the same DMABUF.
UniqueFd dmabuf_duplicate(int dmabuf_fd);

/// The size of a DMABUF in bytes.
std::size_t dmabuf_size(int dmabuf_fd);

enum class CpuAccess : std::uint64_t { read = 1, write = 2, read_write = 3 };

/// DMA_BUF_IOCTL_SYNC. Begin blocks without limit while a fence of the DMABUF is unsignalled.
void dmabuf_begin_cpu(int dmabuf_fd, CpuAccess access);
void dmabuf_end_cpu(int dmabuf_fd, CpuAccess access) noexcept;

/// A snapshot of all fences, readers' and writers', that are on the DMABUF now.
UniqueFd dmabuf_export_sync_file(int dmabuf_fd);

/// What the kernel knows of the one fence in a sync_file.
struct FenceInfo {
    int status = 0;      ///< 1 signalled, 0 active, -errno failed
    std::int64_t ns = 0; ///< CLOCK_MONOTONIC at which it signalled; 0 if it has not

    /// Whether this is not the fence of a transfer enqueued at `asked_ns` or later: that one had
    /// signalled before it could be exported, and the kernel exported its stub instead, which says
    /// "done" and carries the time at which the stub was made. The name is no help: 6.12 calls it
    /// "stub", 7.x calls every signalled fence "detached-driver".
    bool pruned(std::int64_t asked_ns) const noexcept { return status > 0 && ns < asked_ns; }
};
FenceInfo sync_file_info(int sync_fd);

/// Makes the kernel create its stub fence, one for the whole system, if it has not yet: 6.12
/// creates and dates it when it is first exported. Call it on a DMABUF that is not enqueued
/// anywhere.
void make_stub_fence(int dmabuf_fd);

} // namespace iio_stream::sys
