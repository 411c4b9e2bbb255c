// SPDX-License-Identifier: MIT
#include "sys/memory/dmabuf.hpp"

#include "sys/disk/direct_io.hpp"
#include "sys/fail.hpp"

#include <linux/dma-buf.h>
#include <linux/dma-heap.h>
#include <linux/memfd.h>
#include <linux/sync_file.h>
#include <linux/udmabuf.h>

#include <bit>
#include <cerrno>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace iio_stream::sys {

namespace {

// After EINTR or EAGAIN, the same call must be repeated.
int retry_ioctl(int fd, unsigned long request, void* argument)
{
    int result;
    do
        result = ::ioctl(fd, request, argument);
    while (result < 0 && (errno == EINTR || errno == EAGAIN));
    return result;
}

int sync(int fd, std::uint64_t flags)
{
    dma_buf_sync request{.flags = flags};
    return retry_ioctl(fd, DMA_BUF_IOCTL_SYNC, &request);
}

} // namespace

UniqueFd dma_heap_alloc(int heap_fd, const std::string& heap, std::size_t bytes)
{
    dma_heap_allocation_data request{
        .len = bytes, .fd = 0, .fd_flags = O_RDWR | O_CLOEXEC, .heap_flags = 0};
    if (::ioctl(heap_fd, DMA_HEAP_IOCTL_ALLOC, &request) < 0)
        fail(errno, "DMA_HEAP_IOCTL_ALLOC", heap + " of " + std::to_string(bytes) + " bytes");
    return UniqueFd{static_cast<int>(request.fd)};
}

UniqueFd sealed_memfd(std::size_t bytes, std::size_t huge_bytes)
{
    unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
    if (huge_bytes != 0)
        flags |= MFD_HUGETLB | static_cast<unsigned>(std::countr_zero(huge_bytes))
                                   << MFD_HUGE_SHIFT;
    UniqueFd fd{::memfd_create("iio-stream", flags)};
    if (!fd.valid() && huge_bytes != 0)
        return {};
    if (!fd.valid())
        fail(errno, "memfd_create", std::to_string(bytes) + " bytes");
    // fallocate() after ftruncate() allocates the pages now, so that a lack of memory or of huge
    // pages gives an errno here and not a SIGBUS at the first access. With huge pages, it can be
    // interrupted (EINTR) without a signal, by the end of an io_uring that the thread has just
    // closed.
    const int error = ::ftruncate(fd.get(), static_cast<off_t>(bytes)) < 0
                          ? errno
                          : allocate_file(fd.get(), 0, bytes);
    if (error != 0 && huge_bytes != 0)
        return {};
    if (error != 0)
        fail(error, "fallocate", "memfd of " + std::to_string(bytes) + " bytes");
    // UDMABUF_CREATE requires a memfd that cannot shrink.
    if (::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK) < 0)
        fail(errno, "F_ADD_SEALS", "memfd");
    return fd;
}

UniqueFd udmabuf_create(int udmabuf_fd, int memfd, std::size_t offset, std::size_t bytes)
{
    struct udmabuf_create request {
        .memfd = static_cast<__u32>(memfd), .flags = UDMABUF_FLAGS_CLOEXEC, .offset = offset,
        .size = bytes
    };
    const int fd = ::ioctl(udmabuf_fd, UDMABUF_CREATE, &request);
    if (fd < 0)
        fail(errno, "UDMABUF_CREATE", "/dev/udmabuf, " + std::to_string(bytes) + " bytes",
             errno == EINVAL
                 ? "a udmabuf is at most /sys/module/udmabuf/parameters/size_limit_mb MiB"
                 : "");
    return UniqueFd{fd};
}

UniqueFd dmabuf_duplicate(int dmabuf_fd)
{
    UniqueFd own{::fcntl(dmabuf_fd, F_DUPFD_CLOEXEC, 0)};
    if (!own.valid())
        fail(errno, "dup", "DMABUF fd " + std::to_string(dmabuf_fd));
    return own;
}

std::size_t dmabuf_size(int dmabuf_fd)
{
    const off_t size = ::lseek(dmabuf_fd, 0, SEEK_END);
    if (size < 0)
        fail(errno, "lseek", "dmabuf fd " + std::to_string(dmabuf_fd));
    return static_cast<std::size_t>(size);
}

void dmabuf_begin_cpu(int dmabuf_fd, CpuAccess access)
{
    if (sync(dmabuf_fd, DMA_BUF_SYNC_START | static_cast<std::uint64_t>(access)) < 0)
        fail(errno, "DMA_BUF_IOCTL_SYNC start", "dmabuf fd " + std::to_string(dmabuf_fd));
}

void dmabuf_end_cpu(int dmabuf_fd, CpuAccess access) noexcept
{
    (void)sync(dmabuf_fd, DMA_BUF_SYNC_END | static_cast<std::uint64_t>(access));
}

UniqueFd dmabuf_export_sync_file(int dmabuf_fd)
{
    // DMA_BUF_SYNC_WRITE exports the fences of readers too, so it works for both capture and
    // playback.
    dma_buf_export_sync_file request{.flags = DMA_BUF_SYNC_WRITE, .fd = -1};
    if (retry_ioctl(dmabuf_fd, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, &request) < 0)
        fail(errno, "DMA_BUF_IOCTL_EXPORT_SYNC_FILE", "dmabuf fd " + std::to_string(dmabuf_fd));
    return UniqueFd{request.fd};
}

FenceInfo sync_file_info(int sync_fd)
{
    sync_fence_info fence{};
    struct sync_file_info request {};
    request.num_fences = 1;
    request.sync_fence_info = reinterpret_cast<std::uintptr_t>(&fence);
    if (::ioctl(sync_fd, SYNC_IOC_FILE_INFO, &request) < 0)
        fail(errno, "SYNC_IOC_FILE_INFO", "sync_file fd " + std::to_string(sync_fd));
    FenceInfo info{.status = fence.status};
    if (info.status != 0)
        info.ns = static_cast<std::int64_t>(fence.timestamp_ns);
    return info;
}

void make_stub_fence(int dmabuf_fd)
{
    (void)dmabuf_export_sync_file(dmabuf_fd);
}

} // namespace iio_stream::sys
