// SPDX-License-Identifier: MIT
#include "core/stream/block_converter.hpp"

#include <cstring>

namespace iio_stream::detail {

BlockConverter::BlockConverter(const Format& from, const std::string& channels, std::string_view to)
    : from_(from)
{
    const Format chosen = channels.empty() ? from : chosen_channels(from, channels);
    if (!to.empty()) {
        converter_.emplace(chosen, to);
        return;
    }
    Format packed = chosen;
    packed.lay_out();
    converter_.emplace(chosen, packed);
}

Block BlockConverter::process(const Block& in)
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
