// SPDX-License-Identifier: MIT
#include "file/sigmf/metadata.hpp"

#include "core/base/utc.hpp"
#include "file/sigmf/loss_annotations.hpp"
#include "file/sigmf/rules.hpp"
#include "file/sigmf/tunings.hpp"
#include "iio_stream/api.hpp"

#include <algorithm>
#include <cmath>

namespace iio_stream::file {

namespace {

// Declares our extension. The metadata may be another program's, with other extensions or none.
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
    Json& first = metadata["captures"].at(0);
    begin_capture(first, outcome);
    metadata["captures"] = captures_after_losses(first, outcome);
    write_tunings(metadata, outcome);
    Json annotations = loss_annotations(outcome);
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
    // Names can contain any bytes, but JSON is UTF-8.
    return metadata.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace iio_stream::file
