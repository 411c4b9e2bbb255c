// SPDX-License-Identifier: MIT
#include "iio_stream/block.hpp"

#include "core/loss/losses.hpp"
#include "core/memory/pool.hpp"
#include "iio_stream/error.hpp"
#include "iio_stream/samples.hpp"
#include "sys/memory/dmabuf.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <string>
#include <utility>

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
    // Release order, and acquire order for the last lease: the reads of all holders end before the
    // buffer is refilled.
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

Time Block::time() const noexcept
{
    const BlockInfo& all = whole();
    const auto [sample_bytes, usual_rate] = slot_->pool->sample_timing();
    const std::size_t left = all.bytes - std::min(all.bytes, offset_ + bytes_);
    Time time = all.time;
    if (left == 0 || time.ns == 0)
        return time;
    const double rate = all.retuning.settings.rate.value_or(usual_rate);
    if (sample_bytes == 0 || rate <= 0)
        return {time.clock, 0, {}};
    const std::uint64_t begin = position() + bytes_ / sample_bytes;
    const std::uint64_t end = begin + left / sample_bytes;
    double later = static_cast<double>(end - begin);
    for (std::uint8_t i = 0; i < all.gap_count; ++i) {
        const Gap& gap = all.gaps[i];
        if (gap.offset_max < begin || gap.offset_max >= end)
            continue;
        later += static_cast<double>(gap.lost_min);
        if (!gap.exact())
            time.uncertainty_ns.reset();
    }
    time.ns -= std::llround(later / rate * 1e9);
    return time;
}

BlockInfo Block::info() const noexcept
{
    BlockInfo info = whole();
    info.bytes = bytes_;
    info.time = time();
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

namespace iio_stream::detail {

namespace {

std::string cpp_name(const Type& type)
{
    std::string value;
    if (type.number == ScanType::Number::floating)
        value = type.bits == 32 ? "float" : "double";
    else
        value = (type.number == ScanType::Number::signed_integer ? "std::int" : "std::uint") +
                std::to_string(type.bits) + "_t";
    return type.complex ? "std::complex<" + value + ">" : value;
}

// Whether all values have the same type, are adjacent, and are in this machine's byte order.
bool is_array(const Format& format)
{
    const ScanType& first = format.channels.front().type;
    return format.sample_bytes == format.channels.size() * first.bytes() && first.repeat == 1 &&
           (!first.big_endian || first.storage_bits == 8) &&
           std::all_of(format.channels.begin(), format.channels.end(), [&](const Channel& channel) {
               return channel.type.number == first.number &&
                      channel.type.storage_bits == first.storage_bits &&
                      channel.type.big_endian == first.big_endian && channel.type.repeat == 1;
           });
}

} // namespace

void check_type(const Format& format, const Type& type)
{
    const std::string wanted = cpp_name(type);
    if (format.channels.empty())
        fail_usage("no values of " + wanted + ": the format of the block is not known",
                   "CpuRead gives its bytes");
    if (!is_array(format))
        fail_usage(
            "no values of " + wanted + ": samples are " + format.name() + ", of more than one type",
            "select channels with channels=, convert them with convert=, or use Reader::read()");
    const ScanType& value = format.channels.front().type;
    const Type kept{value.number, value.storage_bits, type.complex && format.is_complex()};
    if (kept.number == type.number && kept.bits == type.bits && kept.complex == type.complex)
        return;
    const Type all{value.number, value.storage_bits, format.is_complex()};
    fail_usage("no values of " + wanted + ": samples are " + format.name() + ", " + cpp_name(all),
               "use that type, convert= at the endpoint, or Reader::read(), which converts");
}

} // namespace iio_stream::detail
