// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/block.hpp"
#include "iio_stream/format.hpp"

#include <optional>
#include <utility>

namespace iio_stream::detail {

/// Turns full blocks into full blocks of another format, or of the same, in memory of its own: one
/// copy. Thread: the worker's of the worker that it serves.
class Stage {
public:
    Stage(const Format& from, std::string_view to)
        : from_(from), converter_(std::in_place, from, to)
    {}
    explicit Stage(const Format& same) : from_(same) {}

    const Format& format() const noexcept { return converter_ ? converter_->to() : from_; }
    /// Of a block, or of all of them.
    template <typename T>
    T block_size(T in_bytes) const noexcept
    {
        return in_bytes / from_.sample_bytes * format().sample_bytes;
    }
    void prepare(const Memory& memory, std::size_t in_bytes, std::size_t count)
    {
        pool_.emplace(memory, block_size(in_bytes), count, CpuUse::mapped);
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
    Block process(const Block& in);

private:
    Format from_;
    std::optional<Converter> converter_; ///< none: a plain copy
    std::optional<BlockPool> pool_;
    std::optional<EmptyBlock> spare_;
};

} // namespace iio_stream::detail
