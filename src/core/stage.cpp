// SPDX-License-Identifier: MIT
#include "core/stage.hpp"

namespace iio_stream::detail {

Filled Stage::process(const Filled& in)
{
    Block block = std::move(*spare_);
    spare_.reset();
    BlockInfo info = in.info();
    info.bytes = block_bytes(in.bytes());
    {
        const CpuRead from{in};
        const CpuWrite to{block};
        converter_.convert(from.bytes(), to.bytes().first(info.bytes));
    }
    return std::move(block).fill(info);
}

} // namespace iio_stream::detail
