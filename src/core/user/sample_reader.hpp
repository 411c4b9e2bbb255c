// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/reader.hpp"

#include <optional>
#include <span>

namespace iio_stream::detail {

/// Reads as many samples as requested, converted, from blocks of any size.
/// Thread: the Reader's caller.
class SampleReader {
public:
    /// Samples left in a partly read block.
    std::size_t left() const noexcept { return block_ ? block_->samples() - used_ : 0; }
    void clear() noexcept { block_.reset(); }

    /// Prepares to read samples of `format` as values of `type` into `out_bytes` bytes at a time.
    /// Throws a usage Error if that is impossible.
    void convert_to(const Format& format, const Type& type, std::size_t out_bytes);
    std::size_t out_sample_bytes() const noexcept { return converter_->to().sample_bytes; }

    void begin(Block block) noexcept
    {
        block_.emplace(std::move(block));
        used_ = 0;
    }
    /// Converts as many of the remaining samples as fit into `out`, and stores them at its front.
    /// Returns their number. Adds the gaps before them to `result`.
    std::size_t take(std::span<std::byte> out, ReadResult& result);

private:
    void count_gaps(std::uint64_t begin, std::uint64_t end, ReadResult& result) const;

    std::optional<Converter> converter_;
    std::optional<Block> block_;
    std::size_t used_ = 0; ///< samples of block_ that were taken
};

} // namespace iio_stream::detail
