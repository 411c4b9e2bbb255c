// SPDX-License-Identifier: MIT
#include "iio_stream/api.hpp"
#include "iio_stream/stats.hpp"
#include "sys/machine.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <nlohmann/json.hpp>

namespace iio_stream {

namespace {

using Json = nlohmann::ordered_json;

Json or_null(const std::string& text)
{
    return text.empty() ? Json(nullptr) : Json(text);
}

Json or_null(std::uint64_t count)
{
    return count == kUnknown ? Json(nullptr) : Json(count);
}

Json hop_json(const Hop& hop)
{
    Json j{{"from", hop.from}, {"to", hop.to}, {"mechanism", hop.mechanism}};
    if (!hop.memory.empty()) {
        j["memory"] = hop.memory;
        j["page_bytes"] = hop.page_bytes;
        j["segments"] = hop.segments ? Json(*hop.segments) : Json(nullptr);
    }
    j["copies"] = hop.copies;
    j["reason"] = or_null(hop.reason);
    return j;
}

Json known(const std::optional<double>& value)
{
    return value ? Json(*value) : Json(nullptr);
}

// Adds the settings of an endpoint's radio; does nothing if it has none.
void add_tuning(Json& endpoint, const Tuning& tuning)
{
    if (!tuning.frequency && !tuning.gain && !tuning.bandwidth && !tuning.rate &&
        tuning.remarks.empty())
        return;
    endpoint["tuning"] = {
        {"frequency", known(tuning.frequency)},    {"gain_db", known(tuning.gain)},
        {"bandwidth_hz", known(tuning.bandwidth)}, {"sample_rate", known(tuning.rate)},
        {"antenna", or_null(tuning.antenna)},      {"agc", or_null(tuning.agc)},
        {"hardware", or_null(tuning.hardware)},    {"remarks", tuning.remarks}};
}

Json sink_json(const std::string& uri, const SinkStats& stats, const std::string& report,
               const Tuning& tuning)
{
    Json j{{"uri", uri},
           {"delivered_samples", stats.delivered_samples},
           {"dropped_samples", stats.dropped_samples},
           {"bytes", stats.bytes},
           {"lag_high_water", stats.lag_high_water}};
    if (stats.playback)
        j["playback"] = {
            {"underflows", stats.playback->underflows},
            {"repeats", stats.playback->repeats},
            {"unverified_blocks", stats.playback->unverified_blocks},
            {"sample_rate", stats.playback->rate ? Json(*stats.playback->rate) : Json(nullptr)},
            {"cyclic", or_null(name_of(stats.playback->repeating))}};
    if (!report.empty())
        j["report"] = Json::parse(report);
    add_tuning(j, tuning);
    return j;
}

Json settings_json(const Settings& settings)
{
    return {{"frequency", known(settings.frequency)},
            {"gain_db", known(settings.gain)},
            {"bandwidth_hz", known(settings.bandwidth)},
            {"sample_rate", known(settings.rate)}};
}

Json gaps_json(const GapTotals& gaps, const std::vector<Evidence>& evidence)
{
    Json kinds = Json::array();
    for (const Evidence kind : evidence)
        kinds.push_back(name_of(kind));
    return {{"certain", gaps.certain},
            {"possible", gaps.possible},
            {"lost_min", gaps.lost_min},
            {"lost_max", or_null(gaps.lost_max)},
            {"evidence", kinds}};
}

Json retunings_json(const Summary& summary)
{
    Json all = Json::array();
    for (const Retuning& retuning : summary.retunings) {
        if (retuning.begin >= summary.stats.samples)
            continue; // after the last sample
        Json one{{"begin", retuning.begin}, {"end", std::min(retuning.end, summary.stats.samples)}};
        one.update(settings_json(retuning.settings));
        all.push_back(one);
    }
    return all;
}

Json error_json(const std::optional<Error>& error)
{
    if (!error)
        return nullptr;
    const int number = error->code().value();
    return {{"operation", error->operation()},
            {"object", error->object()},
            {"errno", number},
            {"name", errno_name(number)},
            {"message", error->what()},
            {"hint", or_null(error->hint())}};
}

// Returns a rate without trailing zeros: 1004997.85, and 500.5 rather than 500.500000.
std::string rate_text(double value)
{
    std::string text = std::to_string(value);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.'))
        text.pop_back();
    return text;
}

} // namespace

std::string name_of(Repeating repeating)
{
    return repeating == Repeating::no         ? ""
           : repeating == Repeating::hardware ? "hardware"
                                              : "software";
}

std::uint64_t Summary::produced_samples() const noexcept
{
    return stats.samples + stats.gaps.lost_min;
}

unsigned Summary::copies() const noexcept
{
    unsigned copies = 0;
    for (const Hop& hop : route)
        copies += hop.copies;
    return copies;
}

std::string to_json(const Summary& summary)
{
    const Stats& stats = summary.stats;
    const Format& format = summary.format;
    Json j{{"schema", 1},
           {"command", summary.command},
           {"version", kVersion},
           {"kernel", sys::kernel_release()},
           {"started", or_null(summary.started)}};
    j["source"] = {{"uri", summary.source}, {"produced_samples", summary.produced_samples()}};
    add_tuning(j["source"], summary.tuning);
    j["sinks"] = Json::array();
    for (std::size_t i = 0; i < summary.sinks.size(); ++i)
        j["sinks"].push_back(
            sink_json(summary.sinks[i], stats.sinks[i], summary.sink_reports[i],
                      i < summary.sink_tunings.size() ? summary.sink_tunings[i] : Tuning{}));
    j["route"] = Json::array();
    for (const Hop& hop : summary.route)
        j["route"].push_back(hop_json(hop));
    j["copies"] = summary.copies();
    j["sample_format"] = or_null(format.name()); // unknown if nothing started
    j["sample_bytes"] = format.sample_bytes != 0 ? Json(format.sample_bytes) : Json(nullptr);
    j["sample_rate"] = format.sample_rate > 0 ? Json(format.sample_rate) : Json(nullptr);
    j["channels"] = Json::array();
    for (const Channel& channel : format.channels)
        j["channels"].push_back(channel.id);
    j["block_bytes"] = summary.block_size;
    j["block_count"] = summary.block_count;
    j["bytes"] = stats.bytes;
    j["samples"] = stats.samples;
    j["blocks"] = stats.blocks;
    j["seconds"] = stats.seconds;
    j["closing_seconds"] = summary.closing_seconds;
    const auto bytes = static_cast<double>(stats.bytes);
    j["bytes_per_second"] = stats.seconds > 0 ? bytes / stats.seconds : 0.0;
    j["gaps"] = gaps_json(stats.gaps, summary.source_stats.evidence);
    j["retunings"] = retunings_json(summary);
    const SourceStats& blocks = summary.source_stats;
    j["blocks_bad"] = {{"error", blocks.error_blocks},
                       {"cancelled", blocks.cancelled_blocks},
                       {"unverified", blocks.unverified_blocks}};
    const double cpu_seconds = summary.cpu.user_seconds + summary.cpu.system_seconds;
    j["cpu"] = {{"user_seconds", summary.cpu.user_seconds},
                {"system_seconds", summary.cpu.system_seconds},
                {"seconds_per_gib",
                 stats.bytes != 0 ? Json(cpu_seconds / bytes * 1073741824.0) : Json(nullptr)},
                {"threads", Json::object()}};
    for (const ThreadTime& thread : summary.threads)
        j["cpu"]["threads"][thread.name] = thread.cpu_seconds;
    const Latency& latency = summary.latency;
    j["latency_us"] = {{"p50", latency.p50_us},
                       {"p99", latency.p99_us},
                       {"p999", latency.p999_us},
                       {"max", latency.max_us}};
    j["ended"] = summary.ended;
    j["error"] = error_json(summary.error);
    // File names can contain any bytes, but JSON is UTF-8.
    return j.dump(-1, ' ', false, Json::error_handler_t::replace);
}

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
