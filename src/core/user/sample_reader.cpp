// SPDX-License-Identifier: MIT
#include "core/user/sample_reader.hpp"

#include "core/loss/losses.hpp"
#include "iio_stream/error.hpp"

#include <algorithm>

namespace iio_stream::detail {

namespace {

Format of_type(Format format, const Type& type)
{
    for (Channel& channel : format.channels)
        channel.type = {type.number, false, type.bits, type.bits, 0, 1};
    format.lay_out();
    return format;
}

} // namespace

void SampleReader::convert_to(const Format& format, const Type& type, std::size_t out_bytes)
{
    if (type.complex && !format.is_complex())
        fail_usage(
            "cannot read I/Q pairs: samples are " + format.name(),
            "choose pairs with channels=, or read plain numbers: the values of all channels");
    const Format to = of_type(format, type);
    if (!converter_ || converter_->to().channels.front().type != to.channels.front().type ||
        converter_->from().sample_bytes != format.sample_bytes)
        converter_.emplace(format, to);
    if (out_bytes == 0 || out_bytes % to.sample_bytes != 0)
        fail_usage("read() cannot fill " + std::to_string(out_bytes) + " bytes",
                   "make room for a whole number of samples of " + std::to_string(to.sample_bytes) +
                       " bytes");
}

std::size_t SampleReader::take(std::span<std::byte> out, ReadResult& result)
{
    const std::size_t each = converter_->from().sample_bytes;
    const std::size_t count = std::min(left(), out.size() / out_sample_bytes());
    const Block part = block_->slice(used_, count, each);
    if (result.count == 0) {
        result.sample_index = part.sample_index();
        result.index_exact = part.index_exact();
    }
    {
        const CpuRead in{part};
        converter_->convert(in.bytes(), out.first(count * out_sample_bytes()));
    }
    count_gaps(used_, used_ + count, result);
    used_ += count;
    if (left() == 0)
        clear();
    return count;
}

// Counts the gaps before the samples [begin, end) of the block. Each gap counts once, at its last
// possible place.
void SampleReader::count_gaps(std::uint64_t begin, std::uint64_t end, ReadResult& result) const
{
    const std::uint64_t first = block_->position(), last = first + block_->samples() - 1;
    for (const Gap& gap : block_->gaps()) {
        const std::uint64_t place = std::clamp(gap.offset_max, first, last) - first;
        if (place < begin || place >= end)
            continue;
        result.gaps += 1;
        result.lost_min = add_least(result.lost_min, gap.lost_min);
        result.lost_max = add_losses(result.lost_max, gap.lost_max);
    }
}

} // namespace iio_stream::detail
