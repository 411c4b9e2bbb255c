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
constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kLongestNs = INT64_MAX / 4; // can be added to any time without overflow

std::size_t round_to(double bytes, std::size_t unit)
{
    const auto units = static_cast<std::size_t>(bytes) / unit;
    return std::max<std::size_t>(units, 1) * unit;
}

std::size_t default_block(const Format& format, std::size_t unit)
{
    // Whole pages if possible: direct I/O and USB packets need them.
    const std::size_t paged = std::lcm(unit, kPage);
    const double per_second = format.sample_rate * static_cast<double>(format.sample_bytes);
    if (per_second <= 0)
        return round_to(kUnknownRate, paged);
    if (per_second * kQueueSeconds < static_cast<double>(kMin))
        return round_to(per_second * kQueueSeconds, unit);
    return round_to(std::clamp(per_second * kBlockSeconds, double{kMin}, double{kMax}), paged);
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

Sizing size_blocks(const PipelineConfig& config, const Format& format, const BlockNeeds& needs)
{
    Sizing sizing;
    const std::size_t unit = std::lcm(format.sample_bytes, std::max<std::size_t>(needs.align, 1));
    sizing.unit_bytes = unit;
    sizing.block_size = config.block_size;
    if (sizing.block_size == 0)
        sizing.block_size =
            std::min(default_block(format, unit), std::max(needs.max_bytes / unit * unit, unit));
    check_block(sizing.block_size, unit, needs, format);

    const double per_second = format.sample_rate * static_cast<double>(format.sample_bytes);
    const double block_seconds =
        per_second > 0 ? static_cast<double>(sizing.block_size) / per_second : 0;
    sizing.block_count = config.blocks;
    if (sizing.block_count == 0)
        sizing.block_count =
            block_seconds > 0 ? static_cast<std::size_t>(
                                    std::clamp(std::ceil(kQueueSeconds / block_seconds), 8.0, 64.0))
                              : 16;
    if (sizing.block_count < 2 || sizing.block_count > 1024)
        fail_usage("blocks=" + std::to_string(sizing.block_count) + ": must be 2 to 1024");
    if (sizing.block_size > PTRDIFF_MAX / sizing.block_count)
        fail_usage("block size " + format_size(sizing.block_size) + ", times blocks=" +
                   std::to_string(sizing.block_count) + ", is more than any memory holds");

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
