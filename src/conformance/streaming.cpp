// SPDX-License-Identifier: MIT
#include "conformance/streaming.hpp"

#include "core/base/align.hpp"
#include "iio_stream/session.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <numeric>

namespace iio_stream::conformance {

namespace {

using namespace std::chrono_literals;

constexpr double kUnknownRate = 1e6; ///< assumed where a device reports no rate
constexpr auto kLongestStream = 5s;

std::string scaled(double value, const char* unit)
{
    constexpr std::array kPrefixes{"", "k", "M", "G"};
    std::size_t prefix = 0;
    for (; std::abs(value) >= 1000 && prefix + 1 < kPrefixes.size(); ++prefix)
        value /= 1000;
    char text[48];
    std::snprintf(text, sizeof text, "%.4g %s%s", value, kPrefixes[prefix], unit);
    return text;
}

} // namespace

std::size_t block_bytes(const Subject& subject, double seconds, std::size_t most)
{
    const std::size_t sample = subject.sample_bytes();
    const double rate = subject.rate() > 0 ? subject.rate() : kUnknownRate;
    const double wanted =
        std::min(rate * seconds * static_cast<double>(sample), static_cast<double>(most));
    std::size_t unit = std::lcm(sample, std::max<std::size_t>(subject.buffer.alignment, 1));
    if (const std::size_t pages = std::lcm(unit, detail::kPage);
        static_cast<double>(pages) <= wanted)
        unit = pages;
    return std::max<std::size_t>(static_cast<std::size_t>(wanted) / unit, 1) * unit;
}

std::uint64_t samples_of(const Subject& subject, double seconds, std::size_t most_bytes)
{
    const double rate = subject.rate() > 0 ? subject.rate() : kUnknownRate;
    const double most =
        static_cast<double>(most_bytes) / static_cast<double>(subject.sample_bytes());
    return static_cast<std::uint64_t>(std::max(std::min(rate * seconds, most), 16.0));
}

PipelineConfig capture_config(const Subject& subject, const Way& way)
{
    PipelineConfig config;
    config.source = subject.uri(way);
    config.sinks = {"null:"};
    config.block_size = block_bytes(subject, 0.02);
    config.blocks = 8;
    config.timeout = 2s;
    config.duration = kLongestStream;
    return config;
}

Summary stream(Run& run, const PipelineConfig& config)
{
    Session session;
    session.add(config);
    session.start();
    while (!session.wait(10ms))
        if (run.stopped())
            session.request_stop();
    session.stop();
    return session[0].summary();
}

std::string rate_text(double samples_per_second)
{
    return scaled(samples_per_second, "S/s");
}

std::string bytes_text(double bytes)
{
    return scaled(bytes, "B");
}

std::string seconds_text(double seconds)
{
    return seconds < 1e-3 ? scaled(seconds * 1e6, "µs")
           : seconds < 1  ? scaled(seconds * 1e3, "ms")
                          : scaled(seconds, "s");
}

std::string why_not_complete(const Summary& summary, std::uint64_t samples)
{
    if (summary.error)
        return summary.error->what();
    const SourceStats& blocks = summary.source_stats;
    if (blocks.error_blocks + blocks.cancelled_blocks != 0)
        return std::to_string(blocks.error_blocks) + " blocks failed and " +
               std::to_string(blocks.cancelled_blocks) + " were cancelled, of " +
               std::to_string(summary.stats.blocks);
    if (summary.stats.samples < samples)
        return "only " + std::to_string(summary.stats.samples) + " of " + std::to_string(samples) +
               " samples arrived within " + seconds_text(summary.stats.seconds);
    if (summary.stats.samples > samples)
        return std::to_string(summary.stats.samples) + " samples arrived instead of the " +
               std::to_string(samples) + " requested";
    return "";
}

} // namespace iio_stream::conformance
