// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/block.hpp"
#include "iio_stream/format.hpp"

#include <optional>

namespace iio_stream::detail {

/// Turns full blocks into full blocks of another format, in memory of its own: one copy.
/// Thread: the worker's of the lane that it serves.
class Stage {
public:
    Stage(const Format& from, std::string_view to) : converter_(from, to) {}

    const Format& format() const noexcept { return converter_.to(); }
    /// Of a block, or of all of them.
    template <typename T>
    T block_bytes(T in_bytes) const noexcept
    {
        return in_bytes / converter_.from().sample_bytes * format().sample_bytes;
    }
    void prepare(const Memory& memory, std::size_t in_bytes, std::size_t count)
    {
        pool_.emplace(memory, block_bytes(in_bytes), count, CpuUse::mapped);
        spare_.reset();
    }
    BlockPool& pool() noexcept { return *pool_; }

    /// Whether there is a block to convert into; where not, the pool's fd tells when.
    bool ready() noexcept
    {
        if (!spare_)
            spare_ = pool_->take();
        return spare_.has_value();
    }
    /// Only when ready(). What is known of the block goes with it.
    Filled process(const Filled& in);

private:
    Converter converter_;
    std::optional<BlockPool> pool_;
    std::optional<Block> spare_;
};

} // namespace iio_stream::detail
