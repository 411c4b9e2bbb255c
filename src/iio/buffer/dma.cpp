// SPDX-License-Identifier: MIT
#include "iio/buffer/dma.hpp"

#include "core/memory/bounce.hpp"
#include "iio/buffer/dmabuf_queue.hpp"
#include "iio_stream/error.hpp"
#include "sys/files.hpp"
#include "sys/machine.hpp"

#include <chrono>
#include <filesystem>
#include <thread>

namespace iio_stream::iio {

namespace {

namespace fs = std::filesystem;

/// The controller of a device's DMA channel; "" if there is none. Of several channels, the one
/// named `channel_name` is preferred. The DMA engine links each client to its channels:
/// DEVICE/dma:rx → …/CONTROLLER/dma/dma0chan0.
std::string linked_controller(const fs::path& device, const std::string& channel_name)
{
    std::string found;
    std::error_code error;
    for (const std::string& name : sys::list_directory(device)) {
        if (!name.starts_with("dma:"))
            continue;
        const fs::path channel = fs::canonical(device / name, error);
        if (!error && (found.empty() || name == channel_name))
            found = channel.parent_path().parent_path().filename();
    }
    return found;
}

/// A work queue in the kernel releases detached DMABUFs within this time. Until then the buffer
/// does not accept fileio.
constexpr std::chrono::milliseconds kForgets{300};

// Whether the DMA uses a copy of the block. Attaches the block as a stream would.
bool is_bounced(BufferDir& dir, int buffer_fd, const BlockPool& pool, std::size_t index)
{
    detail::BounceTest test(pool, index);
    int error = 0;
    if (attach(dir, buffer_fd, pool.dmabuf(index), error) != sys::Attach::done) {
        test.wipe();
        return false; // the stream's own ATTACH will report why
    }
    test.attached();
    const bool bounced = test.bounced();
    sys::iio_detach(buffer_fd, pool.dmabuf(index));
    test.wipe();
    return bounced;
}

} // namespace

// In mainline kernels, the channel does not belong to the converter chip, which is an SPI device,
// but to its backend, the core in the FPGA. DEVICE/supplier:platform:44a00000.adc/supplier links to
// the backend.
std::string dma_controller_of(const std::string& device_id)
{
    const std::string channel = "dma:rx";
    std::error_code error;
    const fs::path device = fs::canonical("/sys/bus/iio/devices/" + device_id, error).parent_path();
    std::string found = linked_controller(device, channel);
    for (const std::string& name : sys::list_directory(device))
        if (found.empty() && name.starts_with("supplier:"))
            found = linked_controller(device / name / "supplier", channel);
    return found;
}

std::string why_not_reached(BufferDir& dir, int buffer_fd, const BlockPool& pool)
{
    const bool suspect = sys::memory_may_bounce();
    if (!detail::sync_reveals_bounces(pool.traits().memory))
        return !suspect || detail::is_in_dma_reach(pool)
                   ? ""
                   : "the DMA may be unable to address all memory, "
                     "and it is unknown whether these blocks are within "
                     "reach or the kernel copies them (swiotlb)";
    if (!suspect && pool.mapping(0).empty())
        return ""; // device to device: the CPU never touches the blocks
    // If all memory is low, a reason to copy one block applies to all blocks, so one test suffices.
    bool bounced = false;
    for (std::size_t i = 0; i < (suspect ? pool.count() : 1) && !bounced; ++i)
        bounced = is_bounced(dir, buffer_fd, pool, i);
    if (!bounced)
        return "";
    std::this_thread::sleep_for(kForgets);
    return detail::bounced_text("the DMA");
}

} // namespace iio_stream::iio
