// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/reader.hpp"

#include <optional>
#include <span>

namespace iio_stream::detail {

/// As many samples as requested, converted, from blocks of any size.
/// Thread: the Reader's caller.
class SampleReader {
public:
    /// Samples left of a partly read block.
    std::size_t left() const noexcept { return block_ ? block_->samples() - used_ : 0; }
    void clear() noexcept { block_.reset(); }

    /// Sets up reading samples of `format` as such values; throws a usage Error if that is
    /// impossible.
    void convert_to(const Format& format, const Type& type, std::size_t out_bytes);
    std::size_t out_sample_bytes() const noexcept { return converter_->to().sample_bytes; }

    void begin(Block block) noexcept
    {
        block_.emplace(std::move(block));
        used_ = 0;
    }
    /// Moves samples to the front of `out`, as many as there are and fit; returns the number.
    std::size_t take(std::span<std::byte> out, ReadResult& result);

private:
    void count_gaps(std::uint64_t begin, std::uint64_t end, ReadResult& result) const;

    std::optional<Converter> converter_;
    std::optional<Block> block_;
    std::size_t used_ = 0; ///< samples used of it
};

} // namespace iio_stream::detail
