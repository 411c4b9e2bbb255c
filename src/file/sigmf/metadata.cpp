// SPDX-License-Identifier: MIT
#include "file/sigmf/metadata.hpp"

#include "core/base/utc.hpp"
#include "file/sigmf/rules.hpp"
#include "file/sigmf/tunings.hpp"
#include "iio_stream/api.hpp"

#include <algorithm>
#include <cmath>

namespace iio_stream::file {

namespace {

constexpr std::size_t kUtcDigits = 6; ///< of a second's fraction, in core:datetime

std::string count_text(std::uint64_t least, std::uint64_t most)
{
    if (least == most)
        return std::to_string(least) + (least == 1 ? " sample" : " samples");
    if (most == kUnknown)
        return "at least " + std::to_string(least) + " samples";
    return std::to_string(least) + " to " + std::to_string(most) + " samples";
}

std::string place_text(const Gap& gap)
{
    if (gap.offset_min == gap.offset_max)
        return "before sample " + std::to_string(gap.offset_min);
    return "somewhere from before sample " + std::to_string(gap.offset_min) + " to before sample " +
           std::to_string(gap.offset_max);
}

Json annotation_of(const Loss& loss)
{
    const Gap& gap = loss.gap;
    Json a{{"core:sample_start", gap.offset_min},
           {"core:sample_count", gap.offset_max - gap.offset_min}};
    a["core:generator"] = std::string("iio-stream ") + kVersion;
    if (loss.kind == Loss::Kind::filled) {
        a["core:label"] = "zeros";
        a["core:comment"] = "zeros in place of lost samples";
        a["iio_stream:filled"] = gap.offset_max - gap.offset_min;
        return a;
    }
    const bool dropped = loss.kind == Loss::Kind::dropped;
    const char* evidence = dropped ? "dropped" : iio_stream::name_of(gap.evidence);
    a["core:label"] = dropped ? "dropped" : gap.certain() ? "gap" : "possible gap";
    a["core:comment"] = (gap.certain() ? "lost " : "possibly lost ") +
                        count_text(gap.lost_min, gap.lost_max) + ", " + place_text(gap) +
                        "; evidence: " + evidence;
    a["iio_stream:lost_min"] = gap.lost_min;
    a["iio_stream:lost_max"] = gap.lost_max == kUnknown ? Json(nullptr) : Json(gap.lost_max);
    a["iio_stream:evidence"] = evidence;
    return a;
}

// The metadata may be another program's, with other extensions or none.
void declare_own_keys(Json& global)
{
    Json& extensions = global["core:extensions"];
    if (extensions.is_null())
        extensions = Json::array();
    const bool declared =
        std::any_of(extensions.begin(), extensions.end(), [](const Json& extension) {
            return extension.value("name", Json()) == "iio_stream";
        });
    if (!declared)
        extensions.push_back({{"name", "iio_stream"}, {"version", "1.0.0"}, {"optional", true}});
}

// The losses in the file: after its last sample it lost nothing, except what was dropped
// there.
std::vector<Loss> within(const std::vector<Loss>& losses, std::uint64_t samples)
{
    std::vector<Loss> kept;
    for (Loss loss : losses) {
        const bool last = loss.kind == Loss::Kind::dropped && loss.gap.offset_min == samples;
        if (loss.gap.offset_min >= samples && !last)
            continue;
        loss.gap.offset_max = std::min(loss.gap.offset_max, samples);
        kept.push_back(loss);
    }
    return kept;
}

void begin_capture(Json& first, const Outcome& outcome)
{
    if (outcome.utc_ns != 0)
        first["core:datetime"] = detail::utc_text(outcome.utc_ns, kUtcDigits);
    if (outcome.first_index != 0)
        first["core:global_index"] = outcome.first_index;
    if (outcome.index_exact)
        first.erase("iio_stream:index_exact");
    else
        first["iio_stream:index_exact"] = false;
}

// A capture starts where the samples after a loss certainly do.
Json captures_of(Json first, std::vector<Loss> losses, const Outcome& outcome)
{
    std::stable_sort(losses.begin(), losses.end(), [](const Loss& a, const Loss& b) {
        return a.gap.offset_max < b.gap.offset_max;
    });
    begin_capture(first, outcome);
    Json plain = first;
    plain.erase("core:datetime");
    Json captures = Json::array({first});
    std::uint64_t lost = 0;
    for (const Loss& loss : losses) {
        const Gap& gap = loss.gap;
        if (loss.kind == Loss::Kind::filled || gap.offset_max >= outcome.samples)
            continue;
        lost += gap.lost_min;
        if (captures.back()["core:sample_start"] != gap.offset_max) {
            captures.push_back(plain);
            captures.back()["core:sample_start"] = gap.offset_max;
            if (loss.utc_ns != 0)
                captures.back()["core:datetime"] = detail::utc_text(loss.utc_ns, kUtcDigits);
        }
        captures.back()["core:global_index"] = outcome.first_index + gap.offset_max + lost;
        if (!outcome.index_exact || !loss.index_exact() || !index_exact_at(gap.offset_max, losses))
            captures.back()["iio_stream:index_exact"] = false;
    }
    return captures;
}

} // namespace

const char* name_of(State state) noexcept
{
    static constexpr const char* kNames[] = {"recording", "complete", "interrupted", "recovered"};
    return kNames[static_cast<int>(state)];
}

Json describe(const StreamInfo& stream, const std::string& path, std::int64_t utc_ns,
              const std::string& hostname)
{
    const Datatype datatype = datatype_of(stream.format, path);
    const Tuning& tuning = stream.tuning;
    Json global{{"core:datatype", datatype.name}, {"core:version", kSigmfVersion}};
    global["core:num_channels"] = datatype.channels;
    const double rate =
        stream.format.sample_rate > 0 ? stream.format.sample_rate : tuning.rate.value_or(0);
    if (rate > 0 && rate <= kMostHz)
        global["core:sample_rate"] = rate;
    if (!tuning.hardware.empty())
        global["core:hw"] = tuning.hardware;
    global["core:recorder"] = std::string("iio-stream ") + kVersion;
    declare_own_keys(global);
    global["iio_stream:state"] = name_of(State::recording);
    global["iio_stream:channels"] = channels_json(stream.format);
    if (tuning.gain)
        global["iio_stream:gain_db"] = *tuning.gain;
    if (tuning.bandwidth)
        global["iio_stream:bandwidth_hz"] = *tuning.bandwidth;
    if (!tuning.antenna.empty())
        global["iio_stream:antenna"] = tuning.antenna;
    if (!hostname.empty())
        global["iio_stream:hostname"] = hostname;
    Json capture{{"core:sample_start", 0}};
    if (tuning.frequency && std::abs(*tuning.frequency) <= kMostHz)
        capture["core:frequency"] = *tuning.frequency;
    if (utc_ns != 0)
        capture["core:datetime"] = detail::utc_text(utc_ns, kUtcDigits);
    return {
        {"global", global}, {"captures", Json::array({capture})}, {"annotations", Json::array()}};
}

void set_start(Json& metadata, const Outcome& outcome)
{
    begin_capture(metadata["captures"].at(0), outcome);
    write_tunings(metadata, outcome);
}

void write_outcome(Json& metadata, const Outcome& outcome)
{
    Json& global = metadata["global"];
    declare_own_keys(global);
    global["iio_stream:state"] = name_of(outcome.state);
    global["iio_stream:samples"] = outcome.samples;
    std::vector<Loss> losses = within(outcome.losses, outcome.samples);
    metadata["captures"] = captures_of(metadata["captures"].at(0), losses, outcome);
    write_tunings(metadata, outcome);
    std::stable_sort(losses.begin(), losses.end(), [](const Loss& a, const Loss& b) {
        return a.gap.offset_min < b.gap.offset_min;
    });
    Json annotations = Json::array();
    for (const Loss& loss : losses)
        annotations.push_back(annotation_of(loss));
    annotate_tunings(annotations, outcome);
    std::stable_sort(annotations.begin(), annotations.end(), [](const Json& a, const Json& b) {
        return a["core:sample_start"] < b["core:sample_start"];
    });
    if (!outcome.end.empty())
        annotations.push_back({{"core:sample_start", outcome.samples},
                               {"core:sample_count", 0},
                               {"core:generator", std::string("iio-stream ") + kVersion},
                               {"core:label", "interrupted"},
                               {"core:comment", outcome.end}});
    metadata["annotations"] = annotations;
}

std::string text_of(const Json& metadata)
{
    // Names may be any bytes; JSON is UTF-8.
    return metadata.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace iio_stream::file
