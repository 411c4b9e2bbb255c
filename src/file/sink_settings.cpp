// SPDX-License-Identifier: MIT
#include "file/options.hpp"
#include "file/sink.hpp"
#include "iio_stream/units.hpp"

namespace iio_stream::file {

namespace {

void parse_sync(const std::string& text, SinkSettings& s)
{
    s.sync_at_end = text != "none";
    if (text != "none" && text != "end")
        s.sync_every = parse_size("sync", text);
}

} // namespace

SinkSettings SinkSettings::from(Uri& uri)
{
    SinkSettings s;
    Options& options = uri.options;
    s.path = uri.rest;
    if (s.path.empty())
        fail_usage("file: needs a path");
    s.overwrite = parse_switch("overwrite", options.take_or_standard(kSinkOptions["overwrite"]));
    s.take(options);
    if (const auto ahead = options.take(kSinkOptions["preallocate"]); ahead && *ahead != "auto")
        s.preallocate = *ahead == "off" ? 0 : parse_size("preallocate", *ahead);
    parse_sync(options.take_or_standard(kSinkOptions["sync"]), s);
    return s;
}

} // namespace iio_stream::file
