// SPDX-License-Identifier: MIT
#include "core/stream/metrics.hpp"

#include <cerrno>
#include <cstdio>
#include <optional>
#include <utility>

namespace iio_stream {

namespace {

using Value = std::optional<std::uint64_t>;

struct Metric {
    const char* name;
    const char* help;
    Value (*value)(const Stats& stats); ///< nullopt: the stream has none
    bool gauge = false;                 ///< a current value, not a count
};

Value dropped(const Stats& stats)
{
    std::uint64_t count = 0;
    for (const SinkStats& sink : stats.sinks)
        count += sink.dropped_samples;
    return count;
}

template <auto Member>
Value uploads(const Stats& stats)
{
    Value sum;
    for (const SinkStats& sink : stats.sinks)
        if (sink.uploads)
            sum = sum.value_or(0) + (*sink.uploads).*Member;
    return sum;
}

constexpr Metric kMetrics[] = {
    {"samples", "samples taken from the source", [](const Stats& s) -> Value { return s.samples; }},
    {"bytes", "bytes taken from the source", [](const Stats& s) -> Value { return s.bytes; }},
    {"blocks", "blocks taken from the source", [](const Stats& s) -> Value { return s.blocks; }},
    {"gaps_certain", "certain losses", [](const Stats& s) -> Value { return s.gaps.certain; }},
    {"gaps_possible", "possible losses", [](const Stats& s) -> Value { return s.gaps.possible; }},
    {"lost_samples_min", "samples lost, at least",
     [](const Stats& s) -> Value { return s.gaps.lost_min; }},
    {"dropped_samples", "samples that a sink had no room for", &dropped},
    {"underflows", "times a device's queue ran empty",
     [](const Stats& s) -> Value { return s.underflows(); }},
    {"archive_parts", "closed parts of recordings with archive=", &uploads<&UploadStats::parts>},
    {"archive_stored", "closed parts that the store has confirmed", &uploads<&UploadStats::stored>},
    {"archive_retries", "uploads that failed and are tried again", &uploads<&UploadStats::retries>},
    {"archive_behind_bytes", "bytes in closed parts that are not stored",
     &uploads<&UploadStats::behind_bytes>, true}};

} // namespace

std::uint64_t Stats::underflows() const noexcept
{
    std::uint64_t count = 0;
    for (const SinkStats& sink : sinks)
        count += sink.playback ? sink.playback->underflows : 0;
    return count;
}

std::string detail::metrics_text(const std::vector<LabelledStats>& pipelines)
{
    std::string text;
    for (const Metric& metric : kMetrics) {
        const std::string name = std::string("iio_stream_") + metric.name;
        bool is_described = false;
        for (const LabelledStats& pipeline : pipelines) {
            const Value value = metric.value(pipeline.stats);
            if (!value)
                continue;
            if (!std::exchange(is_described, true))
                text += "# TYPE " + name + (metric.gauge ? " gauge" : " counter") + "\n# HELP " +
                        name + " " + metric.help + ".\n";
            text += name + (metric.gauge ? "" : "_total") + "{" + pipeline.labels + "} " +
                    std::to_string(*value) + "\n";
        }
    }
    return text + "# EOF\n";
}

void write_metrics(const std::string& file, const std::vector<LabelledStats>& pipelines)
{
    const std::string fresh = file + ".new", text = detail::metrics_text(pipelines);
    std::FILE* out = std::fopen(fresh.c_str(), "w");
    if (out == nullptr)
        throw Error(Fault::storage, errno, "write", file);
    const bool failed = std::fwrite(text.data(), 1, text.size(), out) != text.size();
    if ((std::fclose(out) != 0) | failed || std::rename(fresh.c_str(), file.c_str()) != 0)
        throw Error(Fault::storage, errno, "write", file);
}

} // namespace iio_stream
