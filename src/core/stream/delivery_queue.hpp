// SPDX-License-Identifier: MIT
#pragma once

#include "core/base/fifo.hpp"
#include "iio_stream/block.hpp"
#include "iio_stream/format.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace iio_stream::detail {

/// What the source has delivered and the sinks are to get next: blocks, slices of them, and with
/// --on-gap zero-fill zeros in place of lost samples, for which it keeps a block of the pool. The
/// zero of an I/Q pair of unsigned values (offset binary) is half scale: 128 of cu8.
/// Thread: one.
class DeliveryQueue {
public:
    /// `fills`: zeros will be wanted.
    void reset(const Format& format, bool fills);
    bool empty() const noexcept { return pieces_.empty(); }
    void push(Block filled) { pieces_.push({std::move(filled), {}}); }
    /// The block in slices, with as many zeros between them as samples are known to be lost. A zero
    /// has the index of the sample it replaces, so that a sink that drops some of either can tell.
    void push_with_zeros(const Block& filled);
    /// The next one; nullopt if that is zeros, and no block is free for them.
    std::optional<Block> pop(BlockPool& pool);
    void clear() noexcept;

    /// Zeros will need a block, and there is none yet.
    bool wants_spare() const noexcept { return fills_ && !spare_; }
    /// Takes one, before the source takes them all again. False if none is free.
    bool take_spare(BlockPool& pool);

private:
    struct Zeros { ///< in place of lost samples
        std::uint64_t samples = 0;
        std::uint64_t position = 0, index = 0; ///< of the first one, as in a block
        bool index_exact = true;
    };
    struct Piece { ///< a block, or zeros
        std::optional<Block> filled;
        Zeros zeros;
    };
    std::optional<Block> make_zeros(const Zeros& zeros, BlockPool& pool);

    Fifo<Piece> pieces_;
    std::optional<EmptyBlock> spare_; ///< for zeros: the source may have all others
    std::size_t sample_bytes_ = 1;
    std::vector<std::byte> zeros_; ///< samples of zero, if their bytes are not all 0
    bool fills_ = false;
};

} // namespace iio_stream::detail
