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

/// Tests, before a stream, whether a device can reach a block's memory directly, or whether the
/// kernel bounces it.
///
/// The kernel maps a page that the device cannot address to another page (swiotlb) and copies it
/// there and back, but only at certain moments. None of these is between a fence and the next read
/// of the block. The test exploits these copies: it marks the pages, attaches the block, and marks
/// the pages again without the kernel noticing. A copy back restores the first mark.
/// DMA_BUF_IOCTL_SYNC causes a copy back, whatever the direction of the device, if the exporter
/// passes the ioctl on to the devices. (udmabuf requests no copy at DETACH.) The test needs no
/// transfer. It checks every page, because pages are bounced one by one. Owns: a mapping of the
/// block. Throws: Error.
class BounceTest {
public:
    /// Overwrites the block. It must be neither in use nor attached.
    BounceTest(const BlockPool& pool, std::size_t index);

    /// Call after the ATTACH.
    void attached();
    /// Returns whether any page was bounced. Call it while the block is attached, and only for
    /// memory with sync_reveals_bounces().
    bool bounced();
    /// Returns the number of pages that still have their mark after a transfer of this many bytes
    /// into the block. Call it without attached().
    std::size_t untouched(std::size_t transferred) const;
    /// Zeroes the marks. Call it when nothing is attached, or for memory without
    /// sync_reveals_bounces().
    void wipe();

private:
    std::uint64_t mark(std::size_t page) const noexcept;
    void put(std::uint64_t flip);

    int dmabuf_;
    sys::Mapping own_; ///< used if the pool has no mapping
    std::span<std::byte> bytes_;
    std::uint64_t seed_;
};

/// Whether this memory's exporter passes DMA_BUF_IOCTL_SYNC on to the devices, as a dma-heap does.
bool sync_reveals_bounces(const Memory& memory) noexcept;

/// Whether every page of the blocks lies within the reach of every DMA, so that no bounce buffer is
/// needed. A udmabuf pins its pages, so they stay where they are. Returns false if the caller is
/// not permitted to read the addresses of the pages, which requires CAP_SYS_ADMIN.
bool is_in_dma_reach(const BlockPool& pool);
/// The remark for the route on why the blocks can be handed to a device; "" if none is needed.
std::string dma_reach_remark(const BlockPool& pool);

/// The text that explains that a device ("the DMA") would get copies of bounced blocks.
std::string bounced_text(const std::string& device);

/// The kinds of memory that a device cannot reach or does not accept, with the reasons.
class MemoryRefusals {
public:
    void add(const Memory& memory, std::string why);
    /// The reason for `memory`; "" if there is none.
    std::string of(const Memory& memory) const;
    /// All reasons, for a route that uses another memory.
    std::string text() const;
    /// The reason why samples are copied: the user requested it, the device takes no DMABUFs, or it
    /// does not take these.
    std::string why_copied(const std::string& asked, const std::string& by_device) const;

private:
    std::vector<std::pair<Memory, std::string>> list_;
};

} // namespace iio_stream::detail
