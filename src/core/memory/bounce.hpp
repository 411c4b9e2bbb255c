// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/block.hpp"
#include "sys/memory/mapping.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace iio_stream::detail {

/// Finds out, before a stream, whether a device reaches a block's memory or the kernel bounces it.
///
/// A page the device cannot address is mapped to another one (swiotlb) and copied there and back,
/// but only at certain moments, none of which is between a fence and the next read of the block.
/// The test exploits these copies: it marks the pages, attaches the block, and marks them again
/// where the kernel does not notice it. A copy back restores the first mark. DMA_BUF_IOCTL_SYNC
/// causes one, whatever the device's direction, if the exporter passes it on to the devices. (At
/// DETACH udmabuf asks for none.) No transfer is needed, and every page is checked, as pages are
/// bounced one by one. Owns: a mapping of the block. Throws: Error.
class BounceTest {
public:
    /// Overwrites the block. It must be neither in use nor attached.
    BounceTest(const BlockPool& pool, std::size_t index);

    /// Call after the ATTACH.
    void attached();
    /// While attached: whether any page was bounced; only for memory with sync_reveals_bounces().
    bool bounced();
    /// Without attached(), after a transfer of that many bytes into the block: how many of its
    /// pages still have their mark.
    std::size_t untouched(std::size_t transferred) const;
    /// Zeroes the marks. Call with nothing attached, or for memory without sync_reveals_bounces().
    void wipe();

private:
    std::uint64_t mark(std::size_t page) const noexcept;
    void put(std::uint64_t flip);

    int dmabuf_;
    sys::Mapping own_; ///< if the pool has none
    std::span<std::byte> bytes_;
    std::uint64_t seed_;
};

/// Whether this memory's exporter passes DMA_BUF_IOCTL_SYNC on to the devices: a dma-heap does.
bool sync_reveals_bounces(const Memory& memory) noexcept;

/// Whether every page of the blocks lies within the reach of every DMA, so that no bounce buffer is
/// needed. A udmabuf pins its pages, so they stay where they are. False if the caller may not see
/// the pages' addresses, which takes CAP_SYS_ADMIN.
bool is_in_dma_reach(const BlockPool& pool);
/// For the route: why the blocks may be handed to a device. "" if no reason was needed.
std::string dma_reach_remark(const BlockPool& pool);

/// Says that a device ("the DMA") gets copies of such blocks.
std::string bounced_text(const std::string& device);

/// Which memories a device cannot reach, or does not take, and why.
class MemoryRefusals {
public:
    void add(const Memory& memory, std::string why);
    /// "" if there is no reason.
    std::string of(const Memory& memory) const;
    /// All of them, for a route that uses another memory.
    std::string text() const;
    /// Why samples are copied: by request, or because the device takes no DMABUFs, or not these.
    std::string why_copied(const std::string& asked, const std::string& by_device) const;

private:
    std::vector<std::pair<Memory, std::string>> list_;
};

} // namespace iio_stream::detail
