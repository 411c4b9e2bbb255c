// SPDX-License-Identifier: MIT
#include "iio_stream/block.hpp"

#include "core/losses.hpp"
#include "core/pool.hpp"
#include "sys/dmabuf.hpp"

#include <cassert>

namespace iio_stream {

const char* name_of(Evidence evidence) noexcept
{
    switch (evidence) {
    case Evidence::counter:
        return "counter";
    case Evidence::overflow_bit:
        return "overflow-bit";
    case Evidence::dma_error:
        return "dma-error";
    case Evidence::starvation:
        return "starvation";
    }
    return "";
}

EmptyBlock& EmptyBlock::operator=(EmptyBlock&& other) noexcept
{
    std::swap(slot_, other.slot_);
    return *this;
}

EmptyBlock::~EmptyBlock()
{
    if (slot_ != nullptr)
        slot_->pool->put(*slot_);
}

std::size_t EmptyBlock::index() const noexcept
{
    return slot_->index;
}

std::size_t EmptyBlock::capacity() const noexcept
{
    return slot_->pool->storage().block_size();
}

std::size_t EmptyBlock::samples() const noexcept
{
    const std::size_t each = format().sample_bytes;
    return each == 0 ? 0 : capacity() / each;
}

const Format& EmptyBlock::format() const noexcept
{
    return slot_->pool->format();
}

int EmptyBlock::dmabuf() const noexcept
{
    return slot_->pool->storage().dmabuf(slot_->index);
}

Block EmptyBlock::fill(const BlockInfo& info) &&
{
    assert(slot_ != nullptr && info.bytes <= capacity());
    detail::Slot* slot = std::exchange(slot_, nullptr);
    slot->info = info;
    slot->fills.store(slot->fills.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    slot->leases.store(1, std::memory_order_release);
    return {slot, info.bytes};
}

Block::Block(Block&& other) noexcept
    : slot_(std::exchange(other.slot_, nullptr)),
      offset_(other.offset_),
      bytes_(other.bytes_),
      skipped_(other.skipped_)
{}

Block& Block::operator=(Block&& other) noexcept
{
    std::swap(slot_, other.slot_);
    std::swap(offset_, other.offset_);
    std::swap(bytes_, other.bytes_);
    std::swap(skipped_, other.skipped_);
    return *this;
}

Block::~Block()
{
    // Release, and acquire for the last one: every holder's reads end before the buffer is
    // refilled.
    if (slot_ != nullptr && slot_->leases.fetch_sub(1, std::memory_order_acq_rel) == 1)
        slot_->pool->put(*slot_);
}

Block Block::share() const noexcept
{
    slot_->leases.fetch_add(1, std::memory_order_relaxed);
    Block other{slot_, bytes_};
    other.offset_ = offset_;
    other.skipped_ = skipped_;
    return other;
}

Block Block::slice(std::uint64_t first, std::uint64_t count,
                   std::size_t sample_bytes) const noexcept
{
    assert((first + count) * sample_bytes <= bytes_);
    Block part = share();
    part.offset_ = offset_ + static_cast<std::size_t>(first) * sample_bytes;
    part.bytes_ = static_cast<std::size_t>(count) * sample_bytes;
    part.skipped_ = skipped_ + first;
    return part;
}

std::size_t Block::samples() const noexcept
{
    const std::size_t each = format().sample_bytes;
    return each == 0 ? 0 : bytes_ / each;
}

const Format& Block::format() const noexcept
{
    return slot_->pool->format();
}

std::size_t Block::index() const noexcept
{
    return slot_->index;
}

int Block::dmabuf() const noexcept
{
    return slot_->pool->storage().dmabuf(slot_->index);
}

std::span<const Gap> Block::gaps() const noexcept
{
    if (skipped_ != 0)
        return {};
    return {whole().gaps.data(), whole().gap_count};
}

std::uint64_t Block::sample_index() const noexcept
{
    const BlockInfo& all = whole();
    std::uint64_t lost = 0;
    for (std::uint8_t i = 0; skipped_ != 0 && i < all.gap_count; ++i)
        if (all.gaps[i].offset_max > all.position && all.gaps[i].offset_max <= position())
            lost = detail::add_least(lost, all.gaps[i].lost_min);
    return all.sample_index + skipped_ + lost;
}

BlockInfo Block::info() const noexcept
{
    BlockInfo info = whole();
    info.bytes = bytes_;
    info.position += skipped_;
    info.sample_index = sample_index();
    info.gap_count = static_cast<std::uint8_t>(gaps().size());
    return info;
}

const BlockInfo& Block::whole() const noexcept
{
    return slot_->info;
}

CpuRead::CpuRead(const Block& filled)
    : dmabuf_(filled.dmabuf()),
      bytes_(filled.slot_->pool->storage()
                 .mapping(filled.index())
                 .subspan(filled.offset(), filled.bytes()))
{
    if (dmabuf_ >= 0)
        sys::dmabuf_begin_cpu(dmabuf_, sys::CpuAccess::read);
}

CpuRead::CpuRead(const EmptyBlock& block)
    : dmabuf_(block.dmabuf()), bytes_(block.slot_->pool->storage().mapping(block.index()))
{
    if (dmabuf_ >= 0)
        sys::dmabuf_begin_cpu(dmabuf_, sys::CpuAccess::read);
}

CpuRead::~CpuRead()
{
    if (dmabuf_ >= 0)
        sys::dmabuf_end_cpu(dmabuf_, sys::CpuAccess::read);
}

CpuWrite::CpuWrite(const EmptyBlock& block)
    : dmabuf_(block.dmabuf()), bytes_(block.slot_->pool->storage().mapping(block.index()))
{
    if (dmabuf_ >= 0)
        sys::dmabuf_begin_cpu(dmabuf_, sys::CpuAccess::write);
}

CpuWrite::~CpuWrite()
{
    if (dmabuf_ >= 0)
        sys::dmabuf_end_cpu(dmabuf_, sys::CpuAccess::write);
}

} // namespace iio_stream
