// SPDX-License-Identifier: MIT
#pragma once

#include "core/format/format_options.hpp"
#include "iio_stream/block.hpp"
#include "iio_stream/format.hpp"

#include <optional>
#include <utility>

namespace iio_stream::detail {

/// Copies full blocks into blocks of its own pool: in another format, with fewer channels, or
/// unchanged.
/// Thread: the thread that drives the sink.
class BlockConverter {
public:
    /// `channels`: the channels to keep, as in channels=; "" = all. `to`: the format to convert to;
    /// "" = no conversion.
    BlockConverter(const Format& from, const std::string& channels, std::string_view to);
    explicit BlockConverter(const Format& same) : from_(same) {}

    const Format& format() const noexcept { return converter_ ? converter_->to() : from_; }
    /// The output bytes for `in_bytes` bytes of input, which can be one block or a whole stream.
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

    /// Whether there is a block to convert into. If not, arm pool() and wait for its fd.
    bool ready() noexcept
    {
        if (!spare_)
            spare_ = pool_->take();
        return spare_.has_value();
    }
    /// Call only when ready(). The new block keeps the information about the old one.
    Block process(const Block& in);

private:
    Format from_;
    std::optional<Converter> converter_; ///< empty: blocks are only copied
    std::optional<BlockPool> pool_;
    std::optional<EmptyBlock> spare_;
};

} // namespace iio_stream::detail
