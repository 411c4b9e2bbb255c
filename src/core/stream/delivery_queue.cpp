// SPDX-License-Identifier: MIT
#include "core/stream/delivery_queue.hpp"

#include "core/format/stored_value.hpp"

#include <algorithm>
#include <cstring>

namespace iio_stream::detail {

namespace {

constexpr std::size_t kZeroBytes = 4096; ///< zeros copied at a time

// Returns a run of zero samples to copy; empty if all bytes of a zero sample are 0.
std::vector<std::byte> zeros_of(const Format& format)
{
    const std::vector<std::byte> zero = zero_sample(format);
    std::vector<std::byte> zeros;
    if (std::ranges::all_of(zero, [](std::byte b) { return b == std::byte{}; }))
        return zeros;
    do
        zeros.insert(zeros.end(), zero.begin(), zero.end());
    while (zeros.size() + zero.size() <= kZeroBytes);
    return zeros;
}

} // namespace

void DeliveryQueue::reset(const Format& format, bool fills)
{
    pieces_.reset(2 * kMaxGaps + 2);
    spare_.reset();
    sample_bytes_ = format.sample_bytes;
    zeros_ = fills ? zeros_of(format) : std::vector<std::byte>{};
    fills_ = fills;
}

void DeliveryQueue::clear() noexcept
{
    pieces_.clear();
    spare_.reset();
}

bool DeliveryQueue::take_spare(BlockPool& pool)
{
    spare_ = pool.take();
    return spare_.has_value();
}

void DeliveryQueue::push_with_zeros(const Block& filled)
{
    const std::uint64_t samples = filled.bytes() / sample_bytes_;
    std::uint64_t done = 0, index = filled.sample_index();
    bool exact = filled.index_exact();
    for (const Gap& gap : filled.gaps()) {
        // The gap puts the block's index in doubt, not the index of the zeros.
        exact = exact || !gap.exact();
        if (gap.offset_max <= filled.position())
            index -= std::min(index, gap.lost_min);
    }
    for (const Gap& gap : filled.gaps()) {
        const std::uint64_t offset =
            gap.offset_max <= filled.position()
                ? done
                : std::clamp(gap.offset_max - filled.position(), done, samples);
        if (offset != done)
            push(filled.slice(done, offset - done, sample_bytes_));
        index += offset - done;
        if (gap.lost_min != 0)
            pieces_.push({std::nullopt, {gap.lost_min, filled.position() + offset, index, exact}});
        index += gap.lost_min;
        done = offset;
    }
    if (done != samples)
        push(filled.slice(done, samples - done, sample_bytes_));
}

std::optional<Block> DeliveryQueue::pop(BlockPool& pool)
{
    Piece& next = pieces_.front();
    if (next.filled)
        return std::move(pieces_.pop().filled);
    auto zeros = make_zeros(next.zeros, pool);
    if (!zeros)
        return std::nullopt;
    const std::uint64_t made = zeros->bytes() / sample_bytes_;
    next.zeros.samples -= made;
    next.zeros.index += made;
    if (next.zeros.samples == 0)
        (void)pieces_.pop();
    return zeros;
}

std::optional<Block> DeliveryQueue::make_zeros(const Zeros& zeros, BlockPool& pool)
{
    std::optional<EmptyBlock> block = std::move(spare_);
    spare_.reset();
    if (!block)
        block = pool.take();
    if (!block)
        return std::nullopt;
    BlockInfo info;
    const std::size_t room = block->capacity() / sample_bytes_;
    info.bytes = static_cast<std::size_t>(std::min<std::uint64_t>(zeros.samples, room));
    info.bytes *= sample_bytes_;
    info.sequence = kUnknown;
    info.position = zeros.position;
    info.sample_index = zeros.index;
    info.index_exact = zeros.index_exact;
    {
        const CpuWrite guard{*block};
        std::byte* const out = guard.bytes().data();
        if (zeros_.empty())
            std::memset(out, 0, info.bytes);
        for (std::size_t done = 0; !zeros_.empty() && done < info.bytes; done += zeros_.size())
            std::memcpy(out + done, zeros_.data(), std::min(zeros_.size(), info.bytes - done));
    }
    return std::move(*block).fill(info);
}

} // namespace iio_stream::detail
