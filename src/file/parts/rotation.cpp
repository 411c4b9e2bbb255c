// SPDX-License-Identifier: MIT
#include "file/parts/rotation.hpp"

#include "file/options.hpp"
#include "iio_stream/units.hpp"
#include "sys/event.hpp"

#include <algorithm>
#include <cmath>

namespace iio_stream::file {

namespace {

// Throws for a limit that is less than a block: parts consist of whole blocks.
void refuse(const std::string& what, std::uint64_t block_size)
{
    fail_usage(what + " is less than a block of " + format_size(block_size),
               "--block-size makes them smaller");
}

} // namespace

Rotation Rotation::from(Options& options)
{
    Rotation rotation;
    if (const auto bytes = options.take_size(kSinkOptions["rotate_bytes"]))
        if (rotation.bytes = *bytes; rotation.bytes == 0)
            fail_usage("rotate_bytes=0: must be more than 0");
    if (const auto time = options.take_duration(kSinkOptions["rotate_time"]))
        if (rotation.ns = time->count(); rotation.ns == 0)
            fail_usage("rotate_time=0s: must be more than 0");
    return rotation;
}

PartMeter::PartMeter(const Rotation& rotation, const StreamInfo& stream)
    : rotation_(rotation),
      sample_bytes_(stream.format.sample_bytes),
      block_bytes_(stream.block_size),
      rate_(stream.format.sample_rate)
{
    if (rate_ > 0 && rotation.ns != 0)
        most_samples_ = static_cast<std::uint64_t>(static_cast<double>(rotation.ns) * 1e-9 * rate_);
    else
        timed_ = rotation.ns != 0;
    if (rotation.bytes != 0 && rotation.bytes < block_bytes_)
        refuse("rotate_bytes=" + format_size(rotation.bytes), block_bytes_);
    if (rotation.ns != 0 && !timed_ && most_samples_ < block_bytes_ / sample_bytes_)
        refuse("rotate_time=" + std::to_string(rotation.ns / 1000) + "us", block_bytes_);
}

std::int64_t PartMeter::end_ns() const noexcept
{
    return rate_ > 0 ? std::llround(static_cast<double>(next_) / rate_ * 1e9) : sys::monotonic_ns();
}

std::uint64_t PartMeter::most_bytes() const noexcept
{
    const std::uint64_t bytes = rotation_.bytes != 0 ? rotation_.bytes : kUnknown;
    return most_samples_ != 0 ? std::min(bytes, most_samples_ * sample_bytes_) : bytes;
}

bool PartMeter::fits(std::size_t bytes, std::uint64_t end) const noexcept
{
    if (rotation_.bytes != 0 && bytes_ + bytes > rotation_.bytes)
        return false;
    if (timed_)
        return sys::monotonic_ns() - since_ns_ < rotation_.ns;
    return most_samples_ == 0 || end - first_ <= most_samples_;
}

std::uint64_t PartMeter::index_of(const Block& filled) const noexcept
{
    return std::max(next_, filled.sample_index());
}

// The index after the block. Samples lost within the block take time, too.
std::uint64_t PartMeter::end_of(const Block& filled) const noexcept
{
    const std::uint64_t samples = filled.bytes() / sample_bytes_;
    std::uint64_t lost = 0;
    for (const Gap& gap : filled.gaps())
        if (gap.offset_max > filled.position() && gap.offset_max < filled.position() + samples)
            lost += gap.lost_min;
    return index_of(filled) + samples + lost;
}

bool PartMeter::fits(const Block& filled) const noexcept
{
    return empty() || fits(filled.bytes(), end_of(filled));
}

bool PartMeter::fits_any() const noexcept
{
    return empty() || fits(block_bytes_, next_ + block_bytes_ / sample_bytes_);
}

bool PartMeter::half_full() const noexcept
{
    if (rotation_.bytes != 0 && 2 * bytes_ + block_bytes_ >= rotation_.bytes)
        return true;
    if (timed_)
        return 2 * (sys::monotonic_ns() - since_ns_) >= rotation_.ns;
    return most_samples_ != 0 &&
           2 * (next_ - first_) + block_bytes_ / sample_bytes_ >= most_samples_;
}

std::optional<PartStart> PartMeter::seam() const noexcept
{
    if (timed_)
        return std::nullopt;
    const std::uint64_t block = block_bytes_ / sample_bytes_;
    std::uint64_t blocks = kUnknown / block;
    if (rotation_.bytes != 0)
        blocks = (rotation_.bytes - std::min(bytes_, rotation_.bytes)) / block_bytes_;
    if (most_samples_ != 0)
        blocks =
            std::min(blocks, (most_samples_ - std::min(next_ - first_, most_samples_)) / block);
    return PartStart{next_ + blocks * block, exact_, 0, bytes_ + blocks * block_bytes_};
}

void PartMeter::add(const Block& filled) noexcept
{
    const std::uint64_t index = index_of(filled);
    if (empty()) {
        first_ = index;
        since_ns_ = sys::monotonic_ns();
    }
    next_ = end_of(filled);
    exact_ = filled.index_exact() &&
             std::ranges::all_of(filled.gaps(), [](const Gap& gap) { return gap.exact(); });
    bytes_ += filled.bytes();
    total_ += filled.bytes();
}

} // namespace iio_stream::file
