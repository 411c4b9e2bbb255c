// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/block.hpp"
#include "sys/mapping.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace iio_stream::detail {

/// Finds out, before a stream, whether a device reaches a block's memory or the kernel bounces it.
///
/// A page that the device cannot address is mapped to another one (swiotlb), and copied there and
/// back at certain moments only; none of them lies between a fence and whoever reads the block next.
/// The test plays on these copies. The pages get a mark, the block is attached, and they get a second
/// mark of which the kernel is not told. A copy that comes back brings the first mark again:
/// DMA_BUF_IOCTL_SYNC makes one, for whichever direction the device has, where the exporter passes it
/// on to the devices. (At DETACH udmabuf asks for none.) No transfer is needed, and each page is
/// looked at, as pages are bounced singly.
/// Owns: a mapping of the block. Throws: Error.
class BounceTest {
public:
    /// The block's content is lost. Nobody may have the block in hand, or attached.
    BounceTest(const BlockPool& pool, std::size_t index);

    /// After the ATTACH.
    void attached();
    /// While it is attached: whether any page was bounced, where sync_tells() of the memory.
    bool bounced();
    /// Without attached(), after a transfer of so many bytes into the block: how many of their
    /// pages still have their mark.
    std::size_t untouched(std::size_t transferred) const;
    /// Leaves zeros where the marks were. With nothing attached, or whatever is not told of it.
    void wipe();

private:
    std::uint64_t mark(std::size_t page) const noexcept;
    void put(std::uint64_t flip);

    int dmabuf_;
    sys::Mapping own_;           ///< where the pool has none
    std::span<std::byte> bytes_;
    std::uint64_t seed_;
};

/// Whether this memory's exporter passes DMA_BUF_IOCTL_SYNC on to the devices: a dma-heap does.
bool sync_tells(const Memory& memory) noexcept;

/// Where nothing tells of bouncing, whether there can be none: all pages of the blocks are seen to
/// lie where each DMA reaches them. A udmabuf pins its pages: they stay there. It takes a privilege
/// to see.
bool lies_low(const BlockPool& pool);
/// For the route: that they are given to a device for that reason. "" where none was needed.
std::string low_remark(const BlockPool& pool);

/// That a device ("the DMA") gets copies of such blocks.
std::string bounced_text(const std::string& device);

/// Which memories a device was found not to reach, or not to take, and why.
class MemoryRefusals {
public:
    void add(const Memory& memory, std::string why);
    /// "" where there is no reason.
    std::string of(const Memory& memory) const;
    /// All of them, for a route that took another memory.
    std::string text() const;
    /// Why samples are copied: it was asked for, or the device takes no DMABUFs, or not these.
    std::string why_copied(const std::string& asked, const std::string& by_device) const;

private:
    std::vector<std::pair<Memory, std::string>> list_;
};

} // namespace iio_stream::detail
