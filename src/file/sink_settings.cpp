// SPDX-License-Identifier: MIT
#include "file/sink.hpp"
#include "iio_stream/units.hpp"

namespace iio_stream::file {

namespace {

Engine parse_engine(const std::string& text)
{
    if (text == "auto")
        return Engine::automatic;
    if (text == "io_uring")
        return Engine::io_uring;
    if (text == "libaio")
        return Engine::libaio;
    if (text == "buffered")
        return Engine::buffered;
    fail_usage("engine=" + text + " does not write files",
               suggest(text, {"auto", "io_uring", "libaio", "buffered"}));
}

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
    s.overwrite = parse_switch("overwrite", options.take("overwrite", "off"));
    s.engine = parse_engine(options.take("engine", "auto"));
    const std::string direct = options.take("direct", "auto");
    if (direct != "auto")
        s.direct = parse_switch("direct", direct) ? Direct::on : Direct::off;
    if (s.direct == Direct::on && s.engine == Engine::buffered)
        fail_usage("direct=on and engine=buffered exclude each other");
    if (s.direct == Direct::off && s.engine != Engine::automatic && s.engine != Engine::buffered)
        fail_usage("direct=off: only engine=buffered writes through the page cache");
    if (const auto depth = options.take("depth")) {
        s.depth = parse_size("depth", *depth);
        if (s.depth == 0 || s.depth > 256)
            fail_usage("depth=" + *depth + ": 1 to 256 requests in flight are possible");
    }
    if (const auto ahead = options.take("preallocate"); ahead && *ahead != "auto")
        s.preallocate = *ahead == "off" ? 0 : parse_size("preallocate", *ahead);
    parse_sync(options.take("sync", "none"), s);
    return s;
}

} // namespace iio_stream::file
