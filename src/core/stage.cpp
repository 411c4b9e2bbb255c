// SPDX-License-Identifier: MIT
#include "core/stage.hpp"

#include <cstring>

namespace iio_stream::detail {

Block Stage::process(const Block& in)
{
    EmptyBlock block = std::move(*spare_);
    spare_.reset();
    BlockInfo info = in.info();
    info.bytes = block_size(in.bytes());
    {
        const CpuRead from{in};
        const CpuWrite to{block};
        if (converter_)
            converter_->convert(from.bytes(), to.bytes().first(info.bytes));
        else
            std::memcpy(to.bytes().data(), from.bytes().data(), info.bytes);
    }
    return std::move(block).fill(info);
}

} // namespace iio_stream::detail
