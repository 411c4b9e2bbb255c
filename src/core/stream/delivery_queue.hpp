// SPDX-License-Identifier: MIT
#pragma once

#include "core/base/fifo.hpp"
#include "iio_stream/block.hpp"
#include "iio_stream/format.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace iio_stream::detail {

/// The data that the sinks get next: blocks from the source, slices of them and, with --on-gap
/// zero-fill, zeros in place of lost samples. The queue keeps a block of the pool for the zeros.
/// The zero of an I/Q pair of unsigned values (offset binary) is half scale: 128 for cu8.
/// Thread: one.
class DeliveryQueue {
public:
    /// `fills`: zeros will be needed.
    void reset(const Format& format, bool fills);
    bool empty() const noexcept { return pieces_.empty(); }
    void push(Block filled) { pieces_.push({std::move(filled), {}}); }
    /// Adds the block in slices, with as many zeros between them as samples are known to be lost. A
    /// zero has the index of the sample that it replaces, so that a sink that drops samples or
    /// zeros can locate the loss.
    void push_with_zeros(const Block& filled);
    /// Returns the next block; nullopt if zeros are next and no block is free for them.
    std::optional<Block> pop(BlockPool& pool);
    void clear() noexcept;

    /// Whether zeros will need a block and none is reserved yet.
    bool wants_spare() const noexcept { return fills_ && !spare_; }
    /// Reserves a block for zeros, before the source takes all blocks again. Returns false if none
    /// is free.
    bool take_spare(BlockPool& pool);

private:
    struct Zeros { ///< in place of lost samples
        std::uint64_t samples = 0;
        std::uint64_t position = 0, index = 0; ///< of the first zero, as in a BlockInfo
        bool index_exact = true;
    };
    struct Piece { ///< a block, or zeros
        std::optional<Block> filled;
        Zeros zeros;
    };
    std::optional<Block> make_zeros(const Zeros& zeros, BlockPool& pool);

    Fifo<Piece> pieces_;
    /// Reserved for zeros, because the source can have all other blocks.
    std::optional<EmptyBlock> spare_;
    std::size_t sample_bytes_ = 1;
    std::vector<std::byte> zeros_; ///< a run of zero samples, if their bytes are not all 0
    bool fills_ = false;
};

} // namespace iio_stream::detail
