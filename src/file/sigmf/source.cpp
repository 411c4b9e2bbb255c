// SPDX-License-Identifier: MIT
#include "file/sigmf/source.hpp"

#include "core/base/text.hpp"
#include "file/journal/journal.hpp"
#include "file/options.hpp"
#include "file/sigmf/archive.hpp"
#include "file/sigmf/check.hpp"
#include "file/sigmf/file_pair.hpp"
#include "file/sigmf/metadata.hpp"
#include "file/sigmf/metadata_reader.hpp"
#include "iio_stream/units.hpp"
#include "sys/files.hpp"
#include "sys/stream_file.hpp"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <utility>

namespace iio_stream::file {

namespace {

constexpr std::size_t kMostNamedCaptures = 3;

// Reading past an interruption would return whatever is on the disk there as samples.
void refuse_interrupted(const Contents& contents, const std::string& data, const std::string& path)
{
    if (contents.state == State::recording || sys::path_exists(journal_path(data)))
        throw Error(Fault::storage, EBUSY, "read", path,
                    "it is still being recorded, or was interrupted",
                    "after an interruption: iio-stream recover " + path);
}

std::uint64_t stored_bytes(const std::string& data, const std::optional<SigmfArchive>& archive)
{
    if (archive)
        return archive->data_bytes;
    const sys::UniqueFd fd = sys::open_file(data, O_RDONLY | O_NONBLOCK);
    return sys::file_size(fd.get(), data);
}

void refuse_other_length(const Contents& contents, const std::string& data, const std::string& path,
                         const std::optional<SigmfArchive>& archive)
{
    if (!contents.samples || !contents.layout.is_plain())
        return;
    const std::uint64_t bytes = stored_bytes(data, archive);
    if (bytes != *contents.samples * contents.format.sample_bytes)
        throw Error(Fault::storage, EBADMSG, "read", path,
                    "the metadata state " + std::to_string(*contents.samples) + " samples of " +
                        std::to_string(contents.format.sample_bytes) + " bytes, but " + data +
                        " has " + std::to_string(bytes) + " bytes",
                    "iio-stream recover " + path + " makes it valid again");
}

// Names the captures that begin at the end of the samples or later: a copy does not have them.
std::string captures_left_out(const Json& placed, const Contents& contents, const std::string& data,
                              const std::optional<SigmfArchive>& archive)
{
    if (!contents.layout.is_plain() || !sys::path_exists(data))
        return "";
    const std::uint64_t samples = stored_bytes(data, archive) / contents.format.sample_bytes;
    std::string starts;
    std::size_t count = 0;
    for (const Json& capture : placed["captures"]) {
        const auto start = capture["core:sample_start"].get<std::uint64_t>();
        if (start == 0 || start < samples || ++count > kMostNamedCaptures)
            continue;
        detail::add_item(starts, std::to_string(start));
    }
    if (count == 0)
        return "";
    return "a copy does not keep captures at or after the end of the samples: " +
           std::to_string(count) + ", at " + starts +
           (count > kMostNamedCaptures ? " and others" : "");
}

// Takes format=, which takes precedence over the metadata.
std::optional<Format> take_stated_format(Options& options, const Json& global)
{
    const std::string name = options.take(kSourceOptions["format"]).value_or("");
    if (name.empty())
        return std::nullopt;
    const std::string recorded = global.value("core:datatype", "");
    const bool pairs = name.starts_with('c');
    const auto count = global.value("core:num_channels", std::uint64_t{1});
    // Keeps the number of values, if they form whole pairs.
    const std::uint64_t values = count * (recorded.starts_with('c') ? 2 : 1);
    const std::string channels = name.find(':') == std::string::npos && (!pairs || values % 2 == 0)
                                     ? std::to_string(values)
                                     : "";
    return Format::parse(name, channels);
}

// A looping source keeps only metadata that hold for all of the recording. Returns whether there
// was anything else.
bool forget_places(Json& metadata, const Tuning& tuning)
{
    const Json captures = std::exchange(metadata["captures"], Json::array());
    const Json annotations = std::exchange(metadata["annotations"], Json::array());
    if (tuning.frequency)
        metadata["captures"].push_back(
            {{"core:sample_start", 0}, {"core:frequency", *tuning.frequency}});
    return captures.size() > 1 || !annotations.empty() ||
           (captures.size() == 1 && captures[0].contains("core:datetime"));
}

} // namespace

SourceSettings settings_of_recording(Uri& uri)
{
    const std::string& path = uri.rest;
    const Pair files = pair_of(path);
    SourceSettings s;
    s.take_reading(uri.options);
    std::optional<SigmfArchive> archive;
    if (is_archive(path))
        archive = read_archive(path);
    const std::string& meta = archive ? path : files.meta;
    const std::string text =
        archive ? archived_metadata_text(path, *archive) : load_metadata_text(meta);
    const std::string name = archive ? archived_metadata_name(path, *archive) : meta;
    const Inspection found = inspect(parse_metadata(text, name), text);
    const Json& metadata = found.repaired;
    const std::optional<Format> stated = take_stated_format(uri.options, metadata["global"]);
    if (!found.obstacle.empty() && !stated)
        throw Error(
            Fault::storage, EBADMSG, "read", meta, found.obstacle,
            "iio-stream verify lists all problems; format=ci16_le reads the samples in that "
            "format");
    for (const std::string& warning : found.warnings)
        s.warnings.push_back(meta + ": " + warning);
    Json placed = by_position(metadata);
    Contents contents = contents_of(placed, stated);
    if (stated && stated->name() != metadata["global"].value("core:datatype", ""))
        s.warnings.push_back(
            meta + ": format=" + stated->name() + " takes precedence over core:datatype = " +
            detail::printable(metadata["global"].value("core:datatype", Json()).dump()));
    const std::string rate_text = uri.options.get(kSourceOptions["rate"]);
    if (const auto rate = uri.options.take_rate(kSourceOptions["rate"])) {
        contents.format.sample_rate = *rate;
        const Json recorded = metadata["global"].value("core:sample_rate", Json());
        if (!recorded.is_null() && recorded != contents.format.sample_rate)
            s.warnings.push_back(meta + ": rate=" + rate_text +
                                 " takes precedence over core:sample_rate = " + recorded.dump());
        contents.tuning.rate = contents.format.sample_rate;
        placed["global"]["core:sample_rate"] = contents.format.sample_rate;
    }
    s.target =
        FileTarget(archive ? path
                   : contents.dataset.empty()
                       ? files.data
                       : (std::filesystem::path(meta).parent_path() / contents.dataset).string());
    if (contents.metadata_only && !sys::path_exists(s.target.path))
        throw Error(Fault::storage, ENOENT, "open", s.target.path,
                    "core:metadata_only is true in " + meta +
                        ": it was distributed without its samples",
                    "put the samples there, or name their file in core:dataset");
    refuse_interrupted(contents, s.target.path, meta);
    if (!stated)
        refuse_other_length(contents, s.target.path, meta, archive);
    s.format = contents.format;
    s.layout = std::move(contents.layout);
    if (archive)
        s.set_place(archive->data_begin, archive->data_begin + archive->data_bytes,
                    archive->file_bytes);
    s.tuning = contents.tuning;
    s.gaps = std::move(contents.gaps);
    for (const Loss& loss : contents.losses)
        if (loss.kind == Loss::Kind::filled)
            s.zeros += loss.gap.offset_max - loss.gap.offset_min;
    if (!s.loop)
        s.remark = captures_left_out(placed, contents, s.target.path, archive);
    if (!s.loop)
        s.timeline = Timeline(placed);
    else if (forget_places(placed, s.tuning))
        s.remark = "loop=on: a copy gets neither the times and annotations of the recording, nor "
                   "the captures";
    s.metadata = std::make_shared<const std::string>(
        placed.dump(-1, ' ', false, Json::error_handler_t::replace));
    return s;
}

} // namespace iio_stream::file
