// SPDX-License-Identifier: MIT
#include "iio_stream/stats.hpp"

#include <cerrno>
#include <cstdio>

namespace iio_stream {

namespace {

struct Metric {
    const char* name;
    const char* help;
    std::uint64_t (*value)(const Stats& stats);
};

std::uint64_t dropped(const Stats& stats)
{
    std::uint64_t count = 0;
    for (const SinkStats& sink : stats.sinks)
        count += sink.dropped_samples;
    return count;
}

constexpr Metric kMetrics[] = {
    {"samples", "samples taken from the source", [](const Stats& s) { return s.samples; }},
    {"bytes", "bytes taken from the source", [](const Stats& s) { return s.bytes; }},
    {"blocks", "blocks taken from the source", [](const Stats& s) { return s.blocks; }},
    {"gaps_certain", "certain losses", [](const Stats& s) { return s.gaps.certain; }},
    {"gaps_possible", "possible losses", [](const Stats& s) { return s.gaps.possible; }},
    {"lost_samples_min", "samples lost, at least", [](const Stats& s) { return s.gaps.lost_min; }},
    {"dropped_samples", "samples that a sink had no room for", &dropped},
    {"underflows", "times a device's queue ran empty", [](const Stats& s) { return s.underflows(); }}};

} // namespace

std::uint64_t Stats::underflows() const noexcept
{
    std::uint64_t count = 0;
    for (const SinkStats& sink : sinks)
        count += sink.playback ? sink.playback->underflows : 0;
    return count;
}

void write_metrics(const std::string& file, const std::vector<LabelledStats>& pipelines)
{
    const std::string fresh = file + ".new";
    std::FILE* out = std::fopen(fresh.c_str(), "w");
    if (out == nullptr)
        throw Error(Fault::storage, errno, "open", fresh);
    for (const Metric& metric : kMetrics) {
        std::fprintf(out, "# TYPE iio_stream_%s counter\n# HELP iio_stream_%s %s.\n", metric.name,
                     metric.name, metric.help);
        for (const LabelledStats& pipeline : pipelines)
            std::fprintf(out, "iio_stream_%s_total{%s} %llu\n", metric.name, pipeline.labels.c_str(),
                         static_cast<unsigned long long>(metric.value(pipeline.stats)));
    }
    std::fputs("# EOF\n", out);
    const bool failed = std::ferror(out) != 0;
    if ((std::fclose(out) != 0) | failed || std::rename(fresh.c_str(), file.c_str()) != 0)
        throw Error(Fault::storage, errno, "write", file);
}

} // namespace iio_stream
