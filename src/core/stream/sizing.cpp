// SPDX-License-Identifier: MIT
#include "core/stream/sizing.hpp"

#include "core/base/align.hpp"
#include "iio_stream/units.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

namespace iio_stream::detail {

namespace {

constexpr std::size_t kMin = 64 * 1024, kMax = 4 * 1024 * 1024;
constexpr std::size_t kUnknownRate = 1024 * 1024;
constexpr double kBlockSeconds = 0.010, kQueueSeconds = 0.250;
constexpr double kFewestBlocks = 8, kMostBlocks = 64;
constexpr double kFewestOfShort = 4; ///< number of blocks of a stream that needs no more
constexpr double kUnknownRateBlocks = 16;
constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kLongestNs = INT64_MAX / 4; // can be added to any time without overflow

std::size_t round_to(double bytes, std::size_t unit)
{
    const auto units = static_cast<std::size_t>(bytes) / unit;
    return std::max<std::size_t>(units, 1) * unit;
}

// 0 if the rate is unknown.
double bytes_per_second(const Format& format)
{
    return std::max(format.sample_rate, 0.0) * static_cast<double>(format.sample_bytes);
}

std::size_t default_block(const Format& format, std::size_t unit)
{
    // Whole pages if possible: direct I/O and USB packets need them.
    const std::size_t paged = std::lcm(unit, kPage);
    const double per_second = bytes_per_second(format);
    if (per_second <= 0)
        return round_to(kUnknownRate, paged);
    if (per_second * kQueueSeconds < static_cast<double>(kMin))
        return round_to(per_second * kQueueSeconds, unit);
    return round_to(std::clamp(per_second * kBlockSeconds, double{kMin}, double{kMax}), paged);
}

double default_count(std::size_t block, double per_second)
{
    if (per_second <= 0)
        return kUnknownRateBlocks;
    const double count = std::ceil(kQueueSeconds * per_second / static_cast<double>(block));
    return std::clamp(count, kFewestBlocks, kMostBlocks);
}

// The size of a block in a stream of `bytes` bytes: no larger than the stream.
std::size_t block_of_short(std::size_t block, double bytes, std::size_t unit)
{
    if (bytes >= static_cast<double>(block))
        return block;
    const std::size_t paged = std::lcm(unit, kPage);
    return std::min(block, round_up(static_cast<std::size_t>(std::ceil(bytes)), paged));
}

// The number of blocks of a stream that gets a buffer for each of its blocks, so that it does not
// depend on when the sinks return them: for the wanted samples, for those that the source needs
// after them, and for zeros in place of lost samples. A sink that drops samples may hold half of
// the blocks, so the wanted samples fill at most half of them.
double count_of_short(std::size_t block, double wanted_bytes, double extra_bytes, OnGap on_gap)
{
    const auto size = static_cast<double>(block);
    const double wanted = std::ceil(wanted_bytes / size), extra = std::ceil(extra_bytes / size),
                 zeros = on_gap == OnGap::zero_fill ? 1 : 0;
    return std::max({wanted + extra + zeros, 2 * wanted, kFewestOfShort});
}

void check_block(std::size_t bytes, std::size_t unit, const BlockNeeds& needs, const Format& format)
{
    if (bytes % unit != 0 || bytes == 0) {
        const std::size_t below = bytes / unit * unit;
        std::string near = format_size(below + unit);
        if (below != 0)
            near = format_size(below) + " or " + near;
        fail_usage("block size " + std::to_string(bytes) + " is not a multiple of " +
                       std::to_string(unit) + " (samples of " +
                       std::to_string(format.sample_bytes) + " bytes, DMA alignment of " +
                       std::to_string(needs.align) + ")",
                   "such as " + near);
    }
    if (needs.max_bytes < unit)
        fail_usage("the device takes blocks of at most " + std::to_string(needs.max_bytes) +
                   " bytes, less than " + std::to_string(unit) + " (samples of " +
                   std::to_string(format.sample_bytes) + " bytes, DMA alignment of " +
                   std::to_string(needs.align) + ")");
    if (bytes > needs.max_bytes)
        fail_usage("block size " + format_size(bytes) + " is larger than the device's limit of " +
                   format_size(needs.max_bytes));
}

} // namespace

Sizing size_blocks(const PipelineConfig& config, const Format& format, const BlockNeeds& needs,
                   std::uint64_t wanted_bytes)
{
    Sizing sizing;
    const std::size_t unit = std::lcm(format.sample_bytes, std::max<std::size_t>(needs.align, 1));
    const double per_second = bytes_per_second(format);
    const double wanted = static_cast<double>(wanted_bytes);
    const double extra = per_second * needs.extra_seconds;
    sizing.unit_bytes = unit;
    sizing.block_size = config.block_size;
    if (sizing.block_size == 0)
        sizing.block_size =
            std::min(block_of_short(default_block(format, unit), wanted + extra, unit),
                     std::max(needs.max_bytes / unit * unit, unit));
    check_block(sizing.block_size, unit, needs, format);

    sizing.block_count = config.blocks;
    if (sizing.block_count == 0)
        sizing.block_count = static_cast<std::size_t>(
            std::min(default_count(sizing.block_size, per_second),
                     count_of_short(sizing.block_size, wanted, extra, config.on_gap)));
    if (sizing.block_count < 2 || sizing.block_count > 1024)
        fail_usage("blocks=" + std::to_string(sizing.block_count) + ": must be 2 to 1024");
    if (sizing.block_size > PTRDIFF_MAX / sizing.block_count)
        fail_usage("block size " + format_size(sizing.block_size) + ", times blocks=" +
                   std::to_string(sizing.block_count) + ", is more than any memory holds");

    const double block_seconds =
        per_second > 0 ? static_cast<double>(sizing.block_size) / per_second : 0;
    if (config.timeout.count() != 0)
        sizing.timeout_ns = config.timeout.count();
    else if (block_seconds > 0)
        sizing.timeout_ns = static_cast<std::int64_t>(
            std::min(2e9 * block_seconds + kSecond, static_cast<double>(kLongestNs)));
    else
        sizing.timeout_ns = 5 * kSecond;
    sizing.timeout_ns = std::min(sizing.timeout_ns, kLongestNs);
    return sizing;
}

} // namespace iio_stream::detail
