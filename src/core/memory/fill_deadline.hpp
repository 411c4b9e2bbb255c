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

/// The longest time that samples wait in a block for the rest of it, in ns.
inline constexpr std::int64_t kLongestFillNs = 1'000'000'000;

/// The widest memory bus of a DMA, in bytes: 1024 bits by AXI4. A device plays multiples of its bus
/// width. (The device's side of axi_dmac can have 2048 bits; there a part of a block can end with
/// zeros, which are reported.)
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

/// The samples of this format that arrive within half of kLongestFillNs; infinity if the rate is
/// unknown. A block of the kernel's or of libiio's has no more: until it is full, nothing is known
/// of what has come.
inline double samples_in_time(const Format& format) noexcept
{
    return format.sample_rate > 0
               ? format.sample_rate * 0.5e-9 * static_cast<double>(kLongestFillNs)
               : std::numeric_limits<double>::infinity();
}

/// Decides when a source hands out a block that is not full, and how much of it. The time is that
/// which the block takes to fill, and a little more, so that a source which keeps its rate has full
/// blocks only. Before kLongestFillNs the part is a multiple of kWidestBus, which a device plays
/// without zeros behind it. After kLongestFillNs it is all samples, unless a device has the blocks.
/// Thread: one.
class FillDeadline {
public:
    /// Before a stream of blocks of that pool.
    void reset(const Format& format, const BlockPool& pool)
    {
        since_ns_ = 0;
        bytes_ = 0;
        limit_ns_ =
            std::min(fill_time_ns(format, pool.block_size()) + kUsualDelayNs, kLongestFillNs);
        unit_ = std::lcm(format.sample_bytes, kWidestBus);
        given_to_device_ = pool.traits().attachable; // otherwise it would be plain pages
        rest_.clear();
        rest_.reserve(unit_);
    }
    /// The block that is being filled has that many bytes of whole samples now.
    void filled(std::size_t bytes) noexcept
    {
        bytes_ = bytes;
        if (bytes == 0)
            since_ns_ = 0;
        else if (since_ns_ == 0)
            since_ns_ = sys::monotonic_ns();
    }
    /// CLOCK_MONOTONIC; 0: there is nothing to hand out.
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
    /// A part of the block is handed out without these bytes. They begin the next block, and their
    /// waiting time goes on.
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
