// SPDX-License-Identifier: MIT
#include "file/file.hpp"

#include "file/raw.hpp"
#include "file/sigmf/sink.hpp"
#include "file/sigmf/source.hpp"
#include "file/sink.hpp"
#include "file/source.hpp"
#include "sys/stream_file.hpp"

#include <cerrno>

namespace iio_stream::file {

namespace {

// A pipe, socket or device is no pair of files, whatever it is called.
bool is_recording(const std::string& path)
{
    return what_name_says(path).kind == Kind::sigmf && !sys::is_special(path);
}

std::unique_ptr<Source> make_source(Uri& uri)
{
    const bool raw = uri.options.values().contains("format") && !has_sigmf_suffix(uri.rest);
    if (!uri.rest.empty() && is_recording(uri.rest) && !raw)
        return std::make_unique<RawSource>(settings_of_recording(uri));
    return std::make_unique<RawSource>(SourceSettings::from(uri));
}

std::unique_ptr<Sink> make_sink(Uri& uri)
{
    SinkSettings settings = SinkSettings::from(uri);
    const std::string path = settings.path;
    if (!is_recording(path))
        return std::make_unique<FileSink>(std::move(settings));
    if (sys::is_directory(path) || path.ends_with('/'))
        throw Error(Fault::storage, EISDIR, "open", path, {},
                    "a recording needs a name: " + path + "/NAME");
    SigmfSettings sigmf = SigmfSettings::from(uri.options, path, settings.overwrite);
    settings.path = sigmf.files.data;
    settings.journal = true; // of losses: the metadata tell of them only at the end
    return std::make_unique<SigmfSink>(std::move(sigmf),
                                       std::make_unique<FileSink>(std::move(settings)));
}

} // namespace

Scheme scheme()
{
    return {"file", &make_source, &make_sink};
}

} // namespace iio_stream::file
