// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/format.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace iio_stream::serve {

/// Extracts some of the channels from samples, without interpreting their values.
class Demux {
public:
    /// Both formats must be laid out. Throws Error if a channel of `to` is missing in `from`.
    Demux(const Format& from, const Format& to);

    /// Returns whether the formats are the same, so that nothing needs to be extracted.
    bool is_trivial() const noexcept { return trivial_; }
    /// Extracts the channels from all samples of `in`, which must be whole samples.
    void copy(std::span<const std::byte> in, std::span<std::byte> out) const noexcept;

private:
    struct Piece {
        std::size_t from, to, bytes;
    };
    std::vector<Piece> pieces_;
    std::size_t from_bytes_, to_bytes_; ///< bytes per sample
    bool trivial_;
};

} // namespace iio_stream::serve
