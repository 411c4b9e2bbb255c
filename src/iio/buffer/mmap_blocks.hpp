// SPDX-License-Identifier: MIT
#pragma once

#include "core/base/fifo.hpp"
#include "iio/buffer/buffer_file.hpp"
#include "sys/device/iio_blocks.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace iio_stream::iio {

/// The blocks of kernel memory that Analog Devices' kernels offer in place of DMABUFs
/// (docs/kernels.md), and the order in which the device has them. The device finishes them in the
/// order in which they were enqueued. The kernel does not record when a block ended, so its end is
/// bounded by the last time at which the device had not finished the block. Owns: the blocks and
/// their mappings; borrows the buffer file. Thread: one at a time.
class MmapBlocks {
public:
    /// A block that the device has given back.
    struct Done {
        std::size_t index = 0;
        /// Bytes transferred; 0 if the buffer was disabled or the transfer was refused.
        std::size_t bytes = 0;
        std::int64_t ns = 0;          ///< CLOCK_MONOTONIC; it was finished by then
        std::int64_t earliest_ns = 0; ///< it was not finished at this time
        /// The device may have had no block from this time until `enqueued_ns`; 0 = it had one.
        std::int64_t starved_ns = 0;
        std::int64_t enqueued_ns = 0;
    };

    explicit MmapBlocks(const BufferFile& file) : file_(file) {}
    MmapBlocks(const MmapBlocks&) = delete;
    ~MmapBlocks() { release(); }

    /// Frees the existing blocks and allocates up to `count` blocks of `bytes` bytes in a buffer
    /// that is off. Returns the number of blocks that the kernel made; if it is smaller than
    /// `count`, `why` gives the reason. Throws an Error if the kernel has blocks but cannot make
    /// any in its present state.
    std::size_t allocate(std::size_t bytes, std::size_t count, std::string& why);
    /// Like allocate(), but halves `bytes`, in multiples of `unit`, until the kernel has memory for
    /// `fewest` blocks. Many small blocks bridge a delay better than a few large ones. Returns
    /// false, with nothing allocated, if no size succeeds.
    bool allocate_at_least(std::size_t fewest, std::size_t bytes, std::size_t count,
                           std::size_t unit, std::string& why);
    /// Maps block `index`, over the address range at `place` unless that is null. A mapping at a
    /// given place is not unmapped by release(): the owner of the range replaces it.
    void map(std::size_t index, bool writable, std::byte* place = nullptr);
    /// Frees the blocks. The buffer must be off, and mappings at given places must have been
    /// replaced.
    void release() noexcept;

    std::size_t count() const noexcept { return blocks_.size(); }
    std::size_t block_bytes() const noexcept { return bytes_; }
    std::span<std::byte> bytes(std::size_t index) const noexcept
    {
        return {blocks_[index].data, bytes_};
    }

    /// Gives a block to the device. `cyclic`: the device repeats the block and does not give it
    /// back. Returns whether the device may have had no block before this one. Throws the kernel's
    /// error.
    bool enqueue(std::size_t index, std::size_t bytes, bool cyclic = false);
    /// The next block in order; nullopt if there is none yet.
    std::optional<Done> dequeue();
    /// Number of blocks that the device has, or has finished but dequeue() has not returned yet.
    std::size_t pending() const noexcept { return in_device_.size() + done_.size(); }
    /// Whether dequeue() will return a block immediately.
    bool ready() const noexcept { return !done_.empty(); }
    /// Takes back all blocks after the buffer was disabled, so that none is in flight.
    void drain() noexcept;
    /// Call when the device is switched on. From then on, a block that is enqueued after the
    /// previous one has finished may have come too late.
    void started() noexcept { started_ = true; }

private:
    struct Block {
        sys::IioBlock kernel;
        std::byte* data = nullptr;
        bool own = false; ///< mapped at an address of the kernel's choice, so release() unmaps it
    };
    struct Flight {
        std::size_t index;
        std::int64_t enqueued_ns, starved_ns;
    };

    bool collect();
    void collect_all();

    const BufferFile& file_;
    std::vector<Block> blocks_;
    std::size_t bytes_ = 0;
    detail::Fifo<Flight> in_device_;
    detail::Fifo<Done> done_;
    /// When the front block of in_device_ was last seen unfinished.
    std::int64_t unfinished_ns_ = 0;
    std::int64_t ended_ns_ = 0; ///< when the last finished block was last seen unfinished
    bool started_ = false;
};

/// Whether the mapped memory is uncached, as on ARM without coherent DMA: reading it again costs as
/// much as the first time. Reads a page of it and a page of ordinary memory several times and
/// compares the times.
bool is_uncached(std::span<const std::byte> page);

} // namespace iio_stream::iio
