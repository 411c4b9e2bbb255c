// SPDX-License-Identifier: MIT
#include "iio_stream/stats.hpp"

#include <algorithm>
#include <cerrno>

namespace iio_stream {

std::optional<Error> Thresholds::check(const Stats& stats) const
{
    std::string what;
    std::uint64_t underflows = 0;
    for (const SinkStats& sink : stats.sinks)
        underflows += sink.playback ? sink.playback->underflows : 0;
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
        what = std::to_string(rate) + " samples per second, fewer than min-rate " +
               std::to_string(*min_rate);
    if (what.empty())
        return std::nullopt;
    return Error(Fault::samples, ENODATA, "", "", what);
}

} // namespace iio_stream
