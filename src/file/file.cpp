// SPDX-License-Identifier: MIT
#include "file/file.hpp"

#include "core/options/registry.hpp"
#include "file/file_names.hpp"
#include "file/options.hpp"
#include "file/parts/part_series.hpp"
#include "file/parts/rotating_sink.hpp"
#include "file/parts/uploads.hpp"
#include "file/sigmf/archive.hpp"
#include "file/sigmf/file_pair.hpp"
#include "file/sigmf/sink.hpp"
#include "file/sigmf/source.hpp"
#include "file/sink.hpp"
#include "file/source.hpp"
#include "file/wav/source.hpp"
#include "sys/stream_file.hpp"

#include <cerrno>
#include <utility>

namespace iio_stream::file {

namespace {

// Throws a usage Error for the suffix of an unsupported format.
bool is_recording(const FileTarget& target)
{
    if (!target.is_recording())
        return false;
    if (const std::string suffix = unsupported_suffix(target.path); !suffix.empty())
        fail_usage(target.path + ": " + suffix + " files are not supported",
                   "NAME.sigmf-meta is a recording, NAME.ci16 or NAME.raw plain samples");
    return true;
}

std::unique_ptr<Source> make_source(Uri& uri)
try {
    const bool raw =
        (uri.options.has(kSourceOptions["format"]) || uri.options.has(kRawSourceOptions["skip"])) &&
        !has_sigmf_suffix(uri.rest);
    FileTarget target(uri.rest);
    const auto require = [&](const std::vector<Option>& own, const char* kind) {
        detail::require_options(uri, own, OptionSide::source, kind);
    };
    // skip= overrides the start of the samples that a WAV header states.
    if (!uri.options.has(kRawSourceOptions["skip"]) && is_wav(target)) {
        require(join(kSourceOptions, kRawSourceOptions, kFactOptions, kIoOptions), "a WAV file");
        return std::make_unique<RawSource>(settings_of_wav(uri, std::move(target)));
    }
    if (!uri.rest.empty() && !raw && is_recording(target)) {
        require(join(kSourceOptions, kIoOptions), "a SigMF recording");
        return std::make_unique<RawSource>(settings_of_recording(uri));
    }
    require(join(kSourceOptions, kRawSourceOptions, kFactOptions, kIoOptions),
            "a file of raw samples");
    return std::make_unique<RawSource>(SourceSettings::from(uri, std::move(target)));
} catch (const Error& error) {
    throw error.blamed_on(Fault::storage);
}

std::unique_ptr<Part> make_recording(Uri& uri, SinkSettings settings, bool in_parts)
{
    const std::string path = uri.rest;
    if (sys::is_directory(path) || path.ends_with('/'))
        throw Error(Fault::storage, EISDIR, "open", path, {},
                    "a recording needs a name: " + path + "/NAME");
    if (is_archive(path)) // reading this name would return the archive's samples
        fail_usage(path + " is an archive, which is read under this name and never changed",
                   pair_of(path).meta +
                       " names the recording; iio-stream archive pack makes an archive of it");
    SigmfSettings sigmf = SigmfSettings::from(uri.options, path, settings.overwrite);
    if (in_parts) {
        sigmf.series = sigmf.files;
        sigmf.files = {part_path(sigmf.series.meta, 0), part_path(sigmf.series.data, 0)};
        settings.series = sigmf.series.data;
    }
    settings.target = FileTarget(sigmf.files.data);
    sigmf.facts = std::exchange(settings.facts, {}); // the data file has no place for them
    settings.journal = true; // the metadata list no losses until the recording ends
    return std::make_unique<SigmfSink>(std::move(sigmf),
                                       std::make_unique<FileSink>(std::move(settings)));
}

std::unique_ptr<Sink> make_sink(Uri& uri)
try {
    FileTarget target(uri.rest);
    if (target.path.empty())
        fail_usage("file: needs a path");
    const bool recording = is_recording(target);
    if (recording)
        detail::require_options(uri, join(kIoOptions, kSinkOptions, kFactOptions, kSigmfOptions),
                                OptionSide::sink, "a SigMF recording");
    else if (target.suffix.kind == FileKind::wav)
        detail::require_options(uri, join(kIoOptions, kSinkOptions, kFactOptions), OptionSide::sink,
                                "a WAV file");
    else
        detail::require_options(uri, join(kIoOptions, kSinkOptions), OptionSide::sink,
                                "a file without metadata");
    SinkSettings settings = SinkSettings::from(uri.options, std::move(target));
    const Rotation rotation = Rotation::from(uri.options);
    const std::string path = settings.target.path;
    const std::optional<UploadSettings> upload =
        recording ? UploadSettings::from(uri.options, path) : std::nullopt;
    const std::optional<RetentionRule> keep =
        upload ? std::nullopt : take_retention_rule(uri.options, rotation.wanted());
    if (upload && !rotation.wanted())
        fail_usage("archive=" + upload->push.archive + ": " + path + " is not recorded in parts",
                   "rotate_bytes= or rotate_time= makes parts");
    if (!rotation.wanted())
        return recording ? make_recording(uri, std::move(settings), false)
                         : std::make_unique<FileSink>(std::move(settings));
    if (settings.target.is_special)
        fail_usage("rotate_bytes=, rotate_time=: " + path + " is not a regular file",
                   "a recording in parts needs a file name, such as x.ci16");
    const bool overwrite = settings.overwrite;
    if (recording) {
        const Pair series = pair_of(path);
        return std::make_unique<RotatingSink>(make_recording(uri, std::move(settings), true),
                                              std::vector{series.meta, series.data}, rotation,
                                              overwrite, upload, keep);
    }
    settings.series = path;
    settings.target = FileTarget(part_path(path, 0));
    return std::make_unique<RotatingSink>(std::make_unique<FileSink>(std::move(settings)),
                                          std::vector{path}, rotation, overwrite, upload, keep);
} catch (const Error& error) {
    throw error.blamed_on(Fault::storage);
}

} // namespace

Scheme scheme()
{
    return {"file",
            &make_source,
            &make_sink,
            "PATH",
            "A SigMF recording, or a file of raw samples; - is standard input or output",
            "iio-stream record sim: capture.sigmf-meta overwrite=on --duration 2s",
            join(kSourceOptions, kRawSourceOptions, kFactOptions, kIoOptions, kSinkOptions,
                 kSigmfOptions),
            true};
}

} // namespace iio_stream::file
