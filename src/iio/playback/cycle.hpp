// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/block.hpp"

#include <string>
#include <vector>

namespace iio_stream::iio {

/// The samples that cyclic=on repeats. If the pool has blocks left when all samples have arrived,
/// they are filled with copies. A single block, which can be in the device's queue only once, then
/// has a successor, and the CPU does not have to keep up with very short blocks.
/// Owns: leases of the blocks that have arrived, and the copies.
/// Thread: the sink's.
class Cycle {
public:
    /// The part of a block that is queued when its turn comes.
    struct Entry {
        std::size_t index, bytes;
    };

    /// `align`: DMA addresses and lengths must be multiples of this many bytes. `device`: the name
    /// of the device, for messages.
    void reset(BlockPool& pool, std::size_t align, std::string device);
    /// Adds a block. Throws if there is no room for it.
    void keep(Block filled);
    /// Call when all samples have arrived. Makes the copies. Throws if the samples cannot be
    /// repeated without a seam.
    void close();
    void clear() noexcept;

    bool closed() const noexcept { return !entries_.empty(); }
    /// Whether the first entry alone, repeated, plays all samples.
    bool fits_one() const noexcept { return entries_.front().bytes % given_ == 0; }
    std::size_t bytes() const noexcept { return given_; } ///< bytes of all samples
    const std::vector<Entry>& entries() const noexcept { return entries_; }
    const std::vector<Block>& leases() const noexcept { return leases_; }

    /// Notes that `bytes` more bytes have been played.
    void played(std::size_t bytes) noexcept;
    /// How many times all samples have been repeated after the first time.
    std::uint64_t repeats() const noexcept { return rounds_ == 0 ? 0 : rounds_ - 1; }
    /// Number of leases that have not been played yet.
    std::size_t waiting() const noexcept { return leases_.size() - heard_; }

private:
    void copy(std::vector<EmptyBlock> blocks, std::size_t unit, std::size_t least);

    BlockPool* pool_ = nullptr;
    std::size_t align_ = 1;
    std::string device_;
    std::vector<Block> leases_;
    std::vector<EmptyBlock> copies_;
    std::vector<Entry> entries_;
    std::size_t given_ = 0; ///< bytes of all leases
    std::uint64_t rounds_ = 0;
    std::size_t into_round_ = 0;  ///< bytes played in the current round
    std::size_t heard_ = 0;       ///< leases played
    std::size_t heard_bytes_ = 0; ///< bytes up to the end of the last played lease
};

} // namespace iio_stream::iio
