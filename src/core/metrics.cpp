// SPDX-License-Identifier: MIT
#include "iio_stream/stats.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>

namespace iio_stream {

namespace {

struct Metric {
    const char* name;
    const char* help;
    std::uint64_t (*value)(const Stats& stats);
    enum class Of { all, archive } of = Of::all; ///< archive: streams whose recordings are uploaded
    bool gauge = false; ///< a number of now, not a count
};

bool has_uploads(const LabelledStats& pipeline)
{
    return std::any_of(pipeline.stats.sinks.begin(), pipeline.stats.sinks.end(),
                       [](const SinkStats& sink) { return sink.uploads.has_value(); });
}

std::uint64_t dropped(const Stats& stats)
{
    std::uint64_t count = 0;
    for (const SinkStats& sink : stats.sinks)
        count += sink.dropped_samples;
    return count;
}

template <auto Member> std::uint64_t uploads(const Stats& stats)
{
    std::uint64_t sum = 0;
    for (const SinkStats& sink : stats.sinks)
        sum += sink.uploads ? (*sink.uploads).*Member : 0;
    return sum;
}

constexpr Metric kMetrics[] = {
    {"samples", "samples taken from the source", [](const Stats& s) { return s.samples; }},
    {"bytes", "bytes taken from the source", [](const Stats& s) { return s.bytes; }},
    {"blocks", "blocks taken from the source", [](const Stats& s) { return s.blocks; }},
    {"gaps_certain", "certain losses", [](const Stats& s) { return s.gaps.certain; }},
    {"gaps_possible", "possible losses", [](const Stats& s) { return s.gaps.possible; }},
    {"lost_samples_min", "samples lost, at least", [](const Stats& s) { return s.gaps.lost_min; }},
    {"dropped_samples", "samples that a sink had no room for", &dropped},
    {"underflows", "times a device's queue ran empty", [](const Stats& s) { return s.underflows(); }},
    {"archive_parts", "closed parts of recordings with archive=", &uploads<&UploadStats::parts>, Metric::Of::archive},
    {"archive_stored", "of them, confirmed by the store", &uploads<&UploadStats::stored>, Metric::Of::archive},
    {"archive_retries", "uploads that failed and are tried again", &uploads<&UploadStats::retries>, Metric::Of::archive},
    {"archive_behind_bytes", "bytes in closed parts that are not stored", &uploads<&UploadStats::behind_bytes>,
     Metric::Of::archive, true}};

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
        throw Error(Fault::storage, errno, "write", file);
    for (const Metric& metric : kMetrics) {
        if (metric.of == Metric::Of::archive && std::none_of(pipelines.begin(), pipelines.end(), &has_uploads))
            continue;
        std::fprintf(out, "# TYPE iio_stream_%s %s\n# HELP iio_stream_%s %s.\n", metric.name,
                     metric.gauge ? "gauge" : "counter", metric.name, metric.help);
        for (const LabelledStats& pipeline : pipelines)
            if (metric.of == Metric::Of::all || has_uploads(pipeline))
                std::fprintf(out, "iio_stream_%s%s{%s} %llu\n", metric.name, metric.gauge ? "" : "_total",
                             pipeline.labels.c_str(), static_cast<unsigned long long>(metric.value(pipeline.stats)));
    }
    std::fputs("# EOF\n", out);
    const bool failed = std::ferror(out) != 0;
    if ((std::fclose(out) != 0) | failed || std::rename(fresh.c_str(), file.c_str()) != 0)
        throw Error(Fault::storage, errno, "write", file);
}

} // namespace iio_stream
