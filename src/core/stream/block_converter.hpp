// SPDX-License-Identifier: MIT
#pragma once

#include "core/format/format_options.hpp"
#include "iio_stream/block.hpp"
#include "iio_stream/format.hpp"

#include <optional>
#include <utility>

namespace iio_stream::detail {

/// Copies full blocks into blocks of another format, of fewer channels, or of the same samples, in
/// memory of its own. Thread: the one that drives the sink.
class BlockConverter {
public:
    /// `channels`: those that channels= names, "" = all; `to`: a format, "" = as they are.
    BlockConverter(const Format& from, const std::string& channels, std::string_view to);
    explicit BlockConverter(const Format& same) : from_(same) {}

    const Format& format() const noexcept { return converter_ ? converter_->to() : from_; }
    /// For one block, or for all of them.
    template <typename T>
    T block_size(T in_bytes) const noexcept
    {
        return in_bytes / from_.sample_bytes * format().sample_bytes;
    }
    void prepare(const Memory& memory, std::size_t in_bytes, std::size_t count)
    {
        pool_.emplace(memory, block_size(in_bytes), count, CpuUse::mapped);
        pool_->set_sample_timing(format().sample_bytes, from_.sample_rate);
        spare_.reset();
    }
    BlockPool& pool() noexcept { return *pool_; }

    /// Whether there is a block to convert into; if not, the pool's fd becomes readable when there
    /// is.
    bool ready() noexcept
    {
        if (!spare_)
            spare_ = pool_->take();
        return spare_.has_value();
    }
    /// Only when ready(). Keeps what is known about the block.
    Block process(const Block& in);

private:
    Format from_;
    std::optional<Converter> converter_; ///< empty: a plain copy
    std::optional<BlockPool> pool_;
    std::optional<EmptyBlock> spare_;
};

} // namespace iio_stream::detail
