// SPDX-License-Identifier: MIT
#include "iio_stream/stats.hpp"

#include <algorithm>
#include <cerrno>

namespace iio_stream {

namespace {

// 1004997.85, and 500.5 rather than 500.500000.
std::string rate_text(double value)
{
    std::string text = std::to_string(value);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.'))
        text.pop_back();
    return text;
}

} // namespace

std::optional<Error> Thresholds::check(const Stats& stats) const
{
    std::string what;
    const std::uint64_t underflows = stats.underflows();
    const std::uint64_t gaps = stats.gaps.certain + stats.gaps.possible + underflows;
    if (max_gaps && gaps > *max_gaps)
        what = std::to_string(gaps) + (underflows == 0 ? " gaps" : " gaps and underflows") +
               ", more than max-gaps " + std::to_string(*max_gaps);
    std::uint64_t lost = stats.gaps.lost_max;
    for (const SinkStats& sink : stats.sinks)
        if (lost != kUnknown)
            lost = std::max(lost, stats.gaps.lost_max + sink.dropped_samples);
    if (max_lost && lost > *max_lost)
        what = (lost == kUnknown ? "an unknown number of" : std::to_string(lost)) +
               " samples may be lost, more than max-lost " + std::to_string(*max_lost);
    const auto samples = static_cast<double>(stats.samples);
    const double seconds = stats.source_seconds;
    const double rate = seconds > 0 ? samples / seconds : 0;
    const double block = stats.blocks != 0 ? samples / static_cast<double>(stats.blocks) : 0;
    if (min_rate && (rate == 0 || samples + block < *min_rate * seconds))
        what = rate_text(rate) + " samples per second, fewer than min-rate " + rate_text(*min_rate);
    if (what.empty())
        return std::nullopt;
    return Error(Fault::samples, ENODATA, "", "", what);
}

} // namespace iio_stream
