// SPDX-License-Identifier: MIT
#pragma once

#include "sys/unique_fd.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace iio_stream::sys {

/// Allocates `bytes` (rounded up to pages by the kernel) from an open /dev/dma_heap file.
UniqueFd dma_heap_alloc(int heap_fd, const std::string& heap, std::size_t bytes);

/// Creates a sealed memfd of `bytes`, on huge pages of `huge_bytes` unless that is 0. Returns an
/// invalid fd if there are not enough huge pages.
UniqueFd sealed_memfd(std::size_t bytes, std::size_t huge_bytes);

/// Creates a DMABUF from a page-aligned range of a sealed memfd.
UniqueFd udmabuf_create(int udmabuf_fd, int memfd, std::size_t offset, std::size_t bytes);

/// Returns another file descriptor of the same DMABUF.
UniqueFd dmabuf_duplicate(int dmabuf_fd);

/// Returns the size of a DMABUF in bytes.
std::size_t dmabuf_size(int dmabuf_fd);

enum class CpuAccess : std::uint64_t { read = 1, write = 2, read_write = 3 };

/// DMA_BUF_IOCTL_SYNC. dmabuf_begin_cpu() blocks without a time limit while a fence of the DMABUF
/// is unsignalled.
void dmabuf_begin_cpu(int dmabuf_fd, CpuAccess access);
void dmabuf_end_cpu(int dmabuf_fd, CpuAccess access) noexcept;

/// Returns a snapshot of all current fences of the DMABUF, those of readers and of writers.
UniqueFd dmabuf_export_sync_file(int dmabuf_fd);

/// The state of the single fence in a sync_file.
struct FenceInfo {
    int status = 0;      ///< 1 signalled, 0 active, -errno failed
    std::int64_t ns = 0; ///< CLOCK_MONOTONIC time at which it signalled; 0 if it has not

    /// Returns whether the kernel exported its stub fence instead of the fence of a transfer that
    /// was enqueued at `asked_ns` or later, because that fence signalled before it could be
    /// exported. The stub is always signalled and has the time at which it was created. Its name
    /// does not identify it: Linux 6.12 calls it "stub", but 7.x calls every signalled fence
    /// "detached-driver".
    bool pruned(std::int64_t asked_ns) const noexcept { return status > 0 && ns < asked_ns; }
};
FenceInfo sync_file_info(int sync_fd);

/// Makes the kernel create its stub fence, one for the whole system, if it does not exist yet.
/// Linux 6.12 creates and timestamps it when it is first exported. Call this on a DMABUF that is
/// not enqueued anywhere.
void make_stub_fence(int dmabuf_fd);

} // namespace iio_stream::sys
