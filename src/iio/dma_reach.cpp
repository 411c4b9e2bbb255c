// SPDX-License-Identifier: MIT
#include "iio/dma_reach.hpp"

#include "core/bounce.hpp"
#include "iio/dmabuf_queue.hpp"
#include "iio_stream/error.hpp"
#include "sys/machine.hpp"

#include <chrono>
#include <thread>

namespace iio_stream::iio {

namespace {

/// A work queue in the kernel releases detached DMABUFs; until then the buffer takes no fileio.
constexpr std::chrono::milliseconds kForgets{300};

// Attaches a block as a stream would.
bool is_bounced(BufferDir& dir, int buffer_fd, const BlockPool& pool, std::size_t index)
{
    detail::BounceTest test(pool, index);
    int error = 0;
    if (attach(dir, buffer_fd, pool.dmabuf(index), error) != sys::Attach::done) {
        test.wipe();
        return false; // the stream's own ATTACH will say why
    }
    test.attached();
    const bool bounced = test.bounced();
    sys::iio_detach(buffer_fd, pool.dmabuf(index));
    test.wipe();
    return bounced;
}

} // namespace

std::string why_not_reached(BufferDir& dir, int buffer_fd, const BlockPool& pool)
{
    const bool suspect = sys::memory_may_bounce();
    if (!detail::sync_tells(pool.traits().memory))
        return !suspect || detail::lies_low(pool) ? ""
                                                  : "the DMA may be unable to address all memory, "
                                                    "and nothing shows whether these blocks are in "
                                                    "reach or the kernel copies them (swiotlb)";
    if (!suspect && pool.mapping(0).empty())
        return ""; // device to device: the CPU never touches the blocks
    // If all memory is low, whatever makes the kernel copy one block makes it copy any.
    bool bounced = false;
    for (std::size_t i = 0; i < (suspect ? pool.count() : 1) && !bounced; ++i)
        bounced = is_bounced(dir, buffer_fd, pool, i);
    if (!bounced)
        return "";
    std::this_thread::sleep_for(kForgets);
    return detail::bounced_text("the DMA");
}

} // namespace iio_stream::iio
