// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/block.hpp"

#include <string>
#include <vector>

namespace iio_stream::iio {

/// The samples that cyclic=on repeats. Where the pool has blocks left when all have come, they are
/// filled with copies of them: so that one block alone, which the device can only hold once, has
/// another to follow it, and the CPU need not be as quick as a short piece of samples.
/// Owns: leases of the blocks that came, and the copies. Thread: the sink's.
class Cycle {
public:
    /// A block's bytes that are queued in their turn.
    struct Entry {
        std::size_t index, bytes;
    };

    /// `align`: DMA addresses and lengths are multiples of it; `device` is for messages.
    void reset(BlockPool& pool, std::size_t align, std::string device);
    /// Throws where there is no room for so much.
    void keep(Block filled);
    /// No more comes: makes the copies. Throws where it cannot be repeated without a seam.
    void close();
    void clear() noexcept;

    bool closed() const noexcept { return !entries_.empty(); }
    /// Whether the first entry alone, over and over, is what is to be played.
    bool fits_one() const noexcept { return entries_.front().bytes % given_ == 0; }
    std::size_t bytes() const noexcept { return given_; } ///< of all that came
    const std::vector<Entry>& entries() const noexcept { return entries_; }
    const std::vector<Block>& leases() const noexcept { return leases_; }

    /// So many bytes more have been played.
    void played(std::size_t bytes) noexcept;
    /// How often all samples have been played whole, the first time not counted.
    std::uint64_t repeats() const noexcept { return rounds_ == 0 ? 0 : rounds_ - 1; }
    /// Leases that have not been played yet.
    std::size_t waiting() const noexcept { return leases_.size() - heard_; }

private:
    void copy(std::vector<EmptyBlock> blocks, std::size_t unit, std::size_t least);

    BlockPool* pool_ = nullptr;
    std::size_t align_ = 1;
    std::string device_;
    std::vector<Block> leases_;
    std::vector<EmptyBlock> copies_;
    std::vector<Entry> entries_;
    std::size_t given_ = 0;          ///< bytes of all leases
    std::uint64_t rounds_ = 0;
    std::size_t into_round_ = 0;     ///< bytes
    std::size_t heard_ = 0;          ///< leases that were played
    std::size_t heard_bytes_ = 0;    ///< up to the end of those
};

} // namespace iio_stream::iio
