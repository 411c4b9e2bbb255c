// SPDX-License-Identifier: MIT
#include "iio_stream/stats.hpp"
#include "iio_stream/api.hpp"
#include "sys/machine.hpp"

#include <algorithm>
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

Json sink_json(const std::string& uri, const SinkStats& stats, const std::string& report)
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
    return j;
}

Json settings_json(const Settings& settings)
{
    const auto known = [](const std::optional<double>& value) {
        return value ? Json(*value) : Json(nullptr);
    };
    return {{"frequency", known(settings.frequency)},
            {"gain_db", known(settings.gain)},
            {"bandwidth_hz", known(settings.bandwidth)},
            {"sample_rate", known(settings.rate)}};
}

Json error_json(const std::optional<Error>& error)
{
    if (!error)
        return nullptr;
    const int number = error->code().value();
    return {{"operation", error->operation()}, {"object", error->object()},
            {"errno", number},                 {"name", errno_name(number)},
            {"message", error->what()},        {"hint", or_null(error->hint())}};
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

int Summary::exit_status() const noexcept
{
    if (!error)
        return ended == "gap" ? 4 : ended == "error" ? 1 : 0;
    switch (error->fault()) {
    case Fault::usage:
        return 2;
    case Fault::device:
        return 3;
    case Fault::storage:
        return 5;
    case Fault::samples:
        return 4;
    case Fault::other:
        return 1;
    }
    return 1;
}

std::string Summary::json() const
{
    Json j{{"schema", 1},       {"command", command},          {"version", kVersion},
           {"kernel", sys::kernel_release()}, {"started", or_null(started)}};
    j["source"] = {{"uri", source}, {"produced_samples", produced_samples()}};
    j["sinks"] = Json::array();
    for (std::size_t i = 0; i < sinks.size(); ++i)
        j["sinks"].push_back(sink_json(sinks[i], stats.sinks[i], sink_reports[i]));
    j["route"] = Json::array();
    for (const Hop& hop : route)
        j["route"].push_back(hop_json(hop));
    j["copies"] = copies();
    j["sample_format"] = or_null(format.name()); // unknown if nothing started
    j["sample_bytes"] = format.sample_bytes != 0 ? Json(format.sample_bytes) : Json(nullptr);
    j["sample_rate"] = format.sample_rate > 0 ? Json(format.sample_rate) : Json(nullptr);
    j["channels"] = Json::array();
    for (const Channel& channel : format.channels)
        j["channels"].push_back(channel.id);
    j["block_bytes"] = block_size;
    j["block_count"] = block_count;
    j["bytes"] = stats.bytes;
    j["samples"] = stats.samples;
    j["blocks"] = stats.blocks;
    j["seconds"] = stats.seconds;
    j["closing_seconds"] = closing_seconds;
    const auto bytes = static_cast<double>(stats.bytes);
    j["bytes_per_second"] = stats.seconds > 0 ? bytes / stats.seconds : 0.0;
    Json evidence = Json::array();
    for (const Evidence kind : source_stats.evidence)
        evidence.push_back(name_of(kind));
    j["gaps"] = {{"certain", stats.gaps.certain},
                 {"possible", stats.gaps.possible},
                 {"lost_min", stats.gaps.lost_min},
                 {"lost_max", or_null(stats.gaps.lost_max)},
                 {"evidence", evidence}};
    j["retunings"] = Json::array();
    for (const Retuning& retuning : retunings) {
        if (retuning.begin >= stats.samples)
            continue; // after the last sample
        Json one{{"begin", retuning.begin}, {"end", std::min(retuning.end, stats.samples)}};
        one.update(settings_json(retuning.settings));
        j["retunings"].push_back(one);
    }
    j["blocks_bad"] = {{"error", source_stats.error_blocks},
                       {"cancelled", source_stats.cancelled_blocks},
                       {"unverified", source_stats.unverified_blocks}};
    const double cpu_seconds = cpu.user_seconds + cpu.system_seconds;
    j["cpu"] = {{"user_seconds", cpu.user_seconds},
                {"system_seconds", cpu.system_seconds},
                {"seconds_per_gib", stats.bytes != 0 ? Json(cpu_seconds / bytes * 1073741824.0)
                                                     : Json(nullptr)}};
    j["latency_us"] = {{"p50", latency.p50_us},
                       {"p99", latency.p99_us},
                       {"p999", latency.p999_us},
                       {"max", latency.max_us}};
    j["ended"] = ended;
    j["error"] = error_json(error);
    // File names may be any bytes; JSON is UTF-8.
    return j.dump(-1, ' ', false, Json::error_handler_t::replace);
}

} // namespace iio_stream
