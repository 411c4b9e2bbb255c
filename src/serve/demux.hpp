// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/format.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace iio_stream::serve {

/// Takes some channels out of samples that have more, without looking at their values.
class Demux {
public:
    /// Both laid out; `to`'s channels are among `from`'s.
    Demux(const Format& from, const Format& to);

    /// The samples are already as they should be.
    bool is_trivial() const noexcept { return trivial_; }
    /// All samples of `in`, a whole number of them.
    void copy(std::span<const std::byte> in, std::span<std::byte> out) const noexcept;

private:
    struct Piece {
        std::size_t from, to, bytes;
    };
    std::vector<Piece> pieces_;
    std::size_t from_bytes_, to_bytes_; ///< of a sample
    bool trivial_;
};

} // namespace iio_stream::serve
