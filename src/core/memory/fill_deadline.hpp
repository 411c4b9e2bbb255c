// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/block.hpp"
#include "iio_stream/format.hpp"
#include "sys/event.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

namespace iio_stream::detail {

/// The longest time, in ns, that samples wait for the rest of their block.
inline constexpr std::int64_t kLongestFillNs = 1'000'000'000;

/// The widest memory bus of a DMA, in bytes: AXI4 allows 1024 bits. A device plays multiples of its
/// bus width. (The device's side of axi_dmac can have 2048 bits. A part of a block can then end
/// with zeros, which are reported.)
inline constexpr std::size_t kWidestBus = 128;

/// The time in ns that a block takes to fill at the format's rate; kLongestFillNs if it is longer
/// or the rate is unknown.
inline std::int64_t fill_time_ns(const Format& format, std::size_t block_bytes) noexcept
{
    if (!(format.sample_rate > 0))
        return kLongestFillNs;
    const double samples =
        static_cast<double>(block_bytes) / static_cast<double>(format.sample_bytes);
    return static_cast<std::int64_t>(
        std::min(1e9 * samples / format.sample_rate, static_cast<double>(kLongestFillNs)));
}

/// The number of samples of this format that arrive within half of kLongestFillNs; infinity if the
/// rate is unknown. A block of the kernel or of libiio has no more samples than this, because
/// nothing is known about its samples until it is full.
inline double samples_in_time(const Format& format) noexcept
{
    return format.sample_rate > 0
               ? format.sample_rate * 0.5e-9 * static_cast<double>(kLongestFillNs)
               : std::numeric_limits<double>::infinity();
}

/// Decides when a source hands out a block that is not full, and how much of it. The deadline is
/// the time that the block takes to fill, plus a margin, so that a source that keeps its rate hands
/// out only full blocks. Before kLongestFillNs, the source hands out a part whose size is a
/// multiple of kWidestBus, which a device plays without zeros after it. After kLongestFillNs, the
/// part consists of all samples, unless the blocks are given to a device. Thread: one.
class FillDeadline {
public:
    /// Call before a stream of blocks of `pool`.
    void reset(const Format& format, const BlockPool& pool)
    {
        since_ns_ = 0;
        bytes_ = 0;
        limit_ns_ =
            std::min(fill_time_ns(format, pool.block_size()) + kUsualDelayNs, kLongestFillNs);
        unit_ = std::lcm(format.sample_bytes, kWidestBus);
        given_to_device_ = pool.traits().attachable; // otherwise the pool would have plain pages
        rest_.clear();
        rest_.reserve(unit_);
    }
    /// Reports that the current block now has `bytes` bytes of whole samples.
    void filled(std::size_t bytes) noexcept
    {
        bytes_ = bytes;
        if (bytes == 0)
            since_ns_ = 0;
        else if (since_ns_ == 0)
            since_ns_ = sys::monotonic_ns();
    }
    /// The time (CLOCK_MONOTONIC) at which a part is due; 0: there is nothing to hand out.
    std::int64_t until_ns() const noexcept
    {
        if (bytes_ >= unit_)
            return since_ns_ + limit_ns_;
        return bytes_ == 0 || given_to_device_ ? 0 : since_ns_ + kLongestFillNs;
    }
    /// Bytes to hand out now; 0: none yet.
    std::size_t due() const noexcept
    {
        if (bytes_ == 0)
            return 0;
        const std::int64_t age_ns = sys::monotonic_ns() - since_ns_;
        if (age_ns >= kLongestFillNs && !given_to_device_)
            return bytes_;
        return age_ns >= limit_ns_ ? bytes_ / unit_ * unit_ : 0;
    }
    /// Keeps the bytes that are left over when a part of the block is handed out. They begin the
    /// next block, and their waiting time continues.
    void keep(std::span<const std::byte> rest)
    {
        rest_.assign(rest.begin(), rest.end());
        bytes_ = 0;
        if (rest.empty())
            since_ns_ = 0;
    }
    /// Copies the kept bytes to the start of the next block. Returns their number.
    std::size_t begin_block(std::span<std::byte> block) noexcept
    {
        std::ranges::copy(rest_, block.begin());
        const std::size_t bytes = rest_.size();
        rest_.clear();
        return bytes;
    }

private:
    /// The usual delay of samples on a busy machine. It is an estimate.
    static constexpr std::int64_t kUsualDelayNs = 50'000'000;

    std::int64_t limit_ns_ = kLongestFillNs, since_ns_ = 0;
    std::size_t bytes_ = 0, unit_ = 1;
    bool given_to_device_ = false;
    std::vector<std::byte> rest_; ///< allocated in reset()
};

} // namespace iio_stream::detail
