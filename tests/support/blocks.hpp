// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/block.hpp"

#include <algorithm>

namespace iio_stream::test {

inline constexpr std::size_t kBytes = 4096, kSample = 4;

inline BlockPool pool_of(std::size_t count, std::size_t bytes = kBytes)
{
    return {Memory{}, bytes, count, CpuUse::mapped};
}

/// Sets all bytes of `block` to `value`, and returns it as a lease.
inline Block fill(EmptyBlock block, std::byte value, std::uint64_t sequence = 0)
{
    BlockInfo info;
    info.bytes = block.capacity();
    info.sequence = sequence;
    {
        const CpuWrite out{block};
        std::fill(out.bytes().begin(), out.bytes().end(), value);
    }
    return std::move(block).fill(info);
}

} // namespace iio_stream::test
