// SPDX-License-Identifier: MIT
#include "file/sigmf/source.hpp"

#include "file/journal.hpp"
#include "file/options.hpp"
#include "file/sigmf/check.hpp"
#include "file/sigmf/metadata.hpp"
#include "file/sigmf/names.hpp"
#include "iio_stream/units.hpp"
#include "sys/files.hpp"
#include "sys/stream_file.hpp"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>

namespace iio_stream::file {

namespace {

// Reading past an interruption would take whatever is on the disk there for samples.
void refuse_unfinished(const Contents& contents, const std::string& data, const std::string& path)
{
    if (contents.state == State::recording || sys::path_exists(journal_path(data)))
        throw Error(Fault::storage, EBUSY, "read", path,
                    "it is still being recorded, or was interrupted",
                    "after an interruption: iio-stream recover " + path);
    if (!contents.samples)
        return;
    const sys::UniqueFd fd = sys::open_file(data, O_RDONLY);
    const std::uint64_t bytes = sys::file_size(fd.get(), data);
    if (bytes != *contents.samples * contents.format.sample_bytes)
        throw Error(Fault::storage, EBADMSG, "read", path,
                    "the metadata say " + std::to_string(*contents.samples) + " samples of " +
                        std::to_string(contents.format.sample_bytes) + " bytes, but " + data +
                        " has " + std::to_string(bytes) + " bytes",
                    "iio-stream recover " + path + " makes it valid again");
}

} // namespace

SourceSettings settings_of_recording(Uri& uri)
{
    const std::string& path = uri.rest;
    const Pair files = pair_of(path);
    SourceSettings s;
    s.loop = parse_switch("loop", uri.options.take_or_standard(kSourceOptions["loop"]));
    s.io.take(uri.options);
    if (!sys::path_exists(files.meta) && path.ends_with(".sigmf") && sys::path_exists(path))
        fail_usage(path + ": archives are not read", "tar -xf " + path + " unpacks it");
    const Json metadata = load_metadata(files.meta);
    require_valid(metadata, files.meta);
    Contents contents = contents_of(metadata);
    s.path = contents.dataset.empty()
                 ? files.data
                 : (std::filesystem::path(files.meta).parent_path() / contents.dataset).string();
    refuse_unfinished(contents, s.path, files.meta);
    s.format = contents.format;
    s.tuning = contents.tuning;
    s.gaps = std::move(contents.gaps);
    for (const Loss& loss : contents.losses)
        if (loss.kind == Loss::Kind::filled)
            s.zeros += loss.gap.offset_max - loss.gap.offset_min;
    return s;
}

} // namespace iio_stream::file
