// SPDX-License-Identifier: MIT
#include "usb/board/endpoint_file.hpp"

#include "core/memory/bounce.hpp"
#include "iio_stream/error.hpp"
#include "sys/device/functionfs.hpp"
#include "sys/event.hpp"
#include "sys/machine.hpp"
#include "sys/memory/dmabuf.hpp"

#include <cerrno>
#include <optional>
#include <poll.h>

namespace iio_stream::usb {

bool is_endpoints(int error) noexcept
{
    return error == EAGAIN || error == ESHUTDOWN || error == ENODEV || error == ECONNRESET;
}

namespace {

bool is_refusal(int error) noexcept
{
    return error == EPERM || error == ENOTTY || error == EINVAL || error == ENOSYS ||
           error == EIO || error == ENOMEM;
}

} // namespace

int attach_all(int endpoint_fd, const std::string& path, const BlockPool& pool, int happened_fd,
               bool fresh)
{
    const bool suspect = fresh && sys::memory_may_bounce();
    const bool syncs = fresh && detail::sync_reveals_bounces(pool.traits().memory);
    if (suspect && !syncs && !detail::is_in_dma_reach(pool))
        return EFAULT; // the blocks cannot be tested for bouncing
    for (std::size_t i = 0; i < pool.count(); ++i) {
        // If DMA reaches all memory, the kernel copies either all blocks or none, so only the first
        // block is tested.
        std::optional<detail::BounceTest> test;
        if (syncs && (suspect || (i == 0 && !pool.mapping(0).empty())))
            test.emplace(pool, i);
        pollfd events{happened_fd, POLLIN, 0};
        // The event may be an UNBIND, after which an ioctl crashes the kernel.
        if (::poll(&events, 1, 0) != 0)
            return EAGAIN;
        const int error = sys::ffs_attach(endpoint_fd, pool.dmabuf(i));
        if (is_refusal(error))
            return error; // closing the file detaches the blocks
        if (error != 0)
            throw Error(Fault::device, error, "FUNCTIONFS_DMABUF_ATTACH", path);
        if (!test)
            continue;
        test->attached();
        if (test->bounced())
            return EFAULT;
        test->wipe();
    }
    if (pool.count() != 0)
        sys::make_stub_fence(pool.dmabuf(0));
    return 0;
}

int TransferFence::transfer(int endpoint_fd, const std::string& path, int dmabuf_fd,
                            std::size_t bytes)
{
    asked_ns_ = sys::monotonic_ns();
    const int error = sys::ffs_transfer(endpoint_fd, dmabuf_fd, bytes);
    if (is_endpoints(error))
        return error;
    if (error != 0)
        throw Error(Fault::device, error, "FUNCTIONFS_DMABUF_TRANSFER", path);
    fence_ = sys::dmabuf_export_sync_file(dmabuf_fd);
    exported_ns_ = sys::monotonic_ns();
    return 0;
}

Transferred TransferFence::poll(std::int64_t& last_end_ns) const
{
    const sys::FenceInfo fence = sys::sync_file_info(fence_.get());
    if (fence.status == 0)
        return {};
    // The fence signalled before it was exported, so its status is lost. Transfers end in order:
    // one that seems to have ended while an older one was in flight was never queued.
    if (fence.pruned(asked_ns_))
        return {true, last_end_ns > exported_ns_ ? EIO : 0, true};
    last_end_ns = fence.ns;
    return {true, fence.status < 0 ? -fence.status : 0, false};
}

} // namespace iio_stream::usb
