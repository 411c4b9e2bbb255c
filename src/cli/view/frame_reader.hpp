// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/block.hpp"
#include "iio_stream/format.hpp"

#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace iio_stream::cli {

/// Splits the samples of one channel into frames of equal length. No frame contains a loss.
/// Thread: one.
class FrameReader {
public:
    /// `channel`: the name of a real channel or of either part of an I/Q pair; "": the first one.
    /// `length`: samples per frame. Throws a usage Error if the format has no such channel.
    FrameReader(const Format& format, const std::string& channel, std::size_t length);

    bool is_complex() const noexcept { return is_complex_; }
    const std::string& name() const noexcept { return name_; } ///< "voltage0_i, voltage0_q"

    /// A complete frame, relative to full scale, and the index of its first sample counted from the
    /// first block. The imaginary parts of a real channel are 0.
    using EachFrame = std::function<void(std::span<const std::complex<float>>, std::uint64_t)>;
    /// Calls `each` with the next frames, at most `limit` of them. The rest of a block is skipped
    /// if it has more frames than that.
    void read(const Block& block, std::size_t limit, const EachFrame& each);
    /// Calls `each` with the samples of the incomplete last frame, if there are any.
    void read_rest(const EachFrame& each);

    /// The index of the first lost sample of each loss.
    const std::vector<std::uint64_t>& losses() const noexcept { return losses_; }

private:
    void read_run(std::span<const float> values, std::uint64_t index, std::size_t& limit,
                  const EachFrame& each);

    Converter convert_; ///< to floats
    std::size_t width_; ///< floats per sample
    std::size_t column_ = 0;
    bool is_complex_ = false;
    std::string name_;
    std::size_t length_;
    std::vector<float> values_;                 ///< of the current block
    std::vector<std::complex<float>> frame_;    ///< incomplete
    std::uint64_t first_ = kUnknown, next_ = 0; ///< indexes: of the first block, after `frame_`
    std::vector<std::uint64_t> losses_;
};

} // namespace iio_stream::cli
