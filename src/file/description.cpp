// SPDX-License-Identifier: MIT
#include "file/sigmf/check.hpp"
#include "file/sigmf/metadata_reader.hpp"
#include "file/sigmf/timeline.hpp"
#include "iio_stream/recording.hpp"

#include <cerrno>
#include <utility>

namespace iio_stream {

namespace {

using namespace file;

std::optional<double> number_or_none(const Json& object, const char* key)
{
    const auto at = object.find(key);
    return at == object.end() ? std::nullopt : std::optional(at->get<double>());
}

std::vector<RecordedCapture> recorded_captures(const Json& metadata)
{
    const Timeline timeline(metadata);
    const auto rate = number_or_none(metadata["global"], "core:sample_rate");
    std::vector<RecordedCapture> made;
    for (const Json& capture : metadata["captures"]) {
        RecordedCapture one;
        one.start = capture["core:sample_start"].get<std::uint64_t>();
        one.index = timeline.index_of(one.start);
        one.index_exact = capture.value("iio_stream:index_exact", true);
        one.datetime = capture.value("core:datetime", "");
        one.frequency = number_or_none(capture, "core:frequency");
        const auto own = number_or_none(capture, "iio_stream:sample_rate");
        one.rate = own ? own : rate;
        made.push_back(one);
    }
    if (made.empty() || made[0].start != 0) {
        RecordedCapture first;
        first.index = timeline.index_of(0);
        first.index_exact = made.empty() || made[0].index_exact;
        first.rate = rate;
        made.insert(made.begin(), first);
    }
    return made;
}

} // namespace

RecordingDescription describe_recording(std::string_view text, const std::string& format)
{
    refuse_long_metadata(text.size(), "");
    Inspection found = inspect(parse_metadata(text, ""), text);
    if (!found.obstacle.empty() && format.empty())
        throw Error(Fault::storage, EBADMSG, "read", "", found.obstacle,
                    "iio-stream verify lists all problems");
    const Json metadata = by_position(std::move(found.repaired));
    const Contents contents =
        contents_of(metadata, format.empty() ? std::nullopt : std::optional(Format::parse(format)));
    RecordingDescription made;
    made.format = contents.format;
    made.state = contents.state ? name_of(*contents.state) : "";
    made.samples = contents.samples;
    made.captures = recorded_captures(metadata);
    for (const Loss& loss : contents.losses)
        if (loss.kind == Loss::Kind::filled)
            made.zeros.push_back({loss.gap.offset_min, loss.gap.offset_max});
        else
            made.losses.push_back({loss.gap, loss.kind == Loss::Kind::dropped});
    const Json& captures = metadata["captures"];
    made.has_first_index = !captures.empty() && captures[0].contains("core:global_index");
    made.hardware = contents.tuning.hardware;
    made.sha512 = contents.sha512;
    made.dataset = contents.dataset;
    made.metadata_only = contents.metadata_only;
    for (const DataLayout::Header& header : contents.layout.headers)
        made.headers.push_back({header.sample, header.bytes});
    made.trailing_bytes = contents.layout.trailing_bytes;
    made.problems = std::move(found.problems);
    made.warnings = std::move(found.warnings);
    return made;
}

} // namespace iio_stream
