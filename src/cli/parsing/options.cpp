// SPDX-License-Identifier: MIT
#include "cli/parsing/options.hpp"

#include "cli/parsing/option_text.hpp"
#include "iio_stream/endpoint.hpp"
#include "iio_stream/units.hpp"

#include <algorithm>

namespace iio_stream::cli {

void StreamOptions::add_to(CLI::App& app, const std::string& order)
{
    app.add_option("endpoints", words, "endpoints, each followed by its options as key=value")
        ->type_name(order);
    app.add_option("--duration", duration,
                   "stop after this much time (5min, 2 = 2s), counted in samples, or by the clock "
                   "if they arrive too slowly")
        ->type_name("TIME");
    app.add_option("--samples", samples, "stop after this many samples of all channels")
        ->type_name("N");
    app.add_option("--bytes", bytes, "stop after this many bytes (256Mi)")->type_name("SIZE");
    app.add_option("--block-size", block_size, "bytes per block; default about 10 ms")
        ->type_name("SIZE");
    app.add_option("--blocks", blocks, "number of blocks; default 250 ms worth")->type_name("N");
    app.add_option(
           "--timeout", timeout,
           "longest wait for a block (500ms, 2 = 2s); default 2 block times + 1 s, and no limit "
           "for a pipe as the source")
        ->type_name("TIME");
    app.add_option("--reconnect", reconnect,
                   "how long a usb: source or sink waits for a board that went away")
        ->type_name("TIME");
    app.add_option("--on-gap", on_gap, "what to do about a loss; default mark")
        ->type_name("mark|stop|zero-fill");
    add_loss_limits(app);
    app.add_option("--min-rate", min_rate, "exit with status 4 if fewer samples per second arrive")
        ->type_name("RATE");
    app.add_flag("--progress", progress, "show progress even if stderr is not a terminal");
    app.add_flag("--no-progress", no_progress, "show no progress");
    app.add_flag("--json", json, "print the summary as one JSON object, or write it to =FILE");
    app.add_option("--metrics-file", metrics_file,
                   "write counters to this file each second, as OpenMetrics text")
        ->type_name("FILE");
    app.add_option("--metrics-listen", metrics_listen,
                   "serve the same counters over HTTP at /metrics on this address: ADDRESS:PORT, "
                   "or :PORT on this machine")
        ->type_name("ADDRESS");
    app.add_option("--events", events,
                   "append events (losses, parts, lost peers) to this file, one JSON object per "
                   "line; - is stderr")
        ->type_name("FILE");
    app.add_flag("--quiet,-q", quiet, "print errors only");
    app.add_flag("--verbose,-v", verbose,
                 "print the route before the stream starts, and a radio's settings in the summary");
    app.footer(endpoint_options() + app.get_footer());
}

void StreamOptions::add_loss_limits(CLI::App& app)
{
    app.add_option("--max-gaps", max_gaps,
                   "exit with status 4 if there are more gaps; default no limit")
        ->type_name("N");
    app.add_option("--max-lost", max_lost, "exit with status 4 if more samples may have been lost")
        ->type_name("N");
}

namespace {

OnGap parse_on_gap(const std::string& text)
{
    if (text == "mark")
        return OnGap::mark;
    if (text == "stop")
        return OnGap::stop;
    if (text == "zero-fill")
        return OnGap::zero_fill;
    fail_usage("--on-gap " + text + " is not valid", suggest(text, {"mark", "stop", "zero-fill"}));
}

template <auto parse>
auto nonzero(const char* name, const std::string& text, const char* without = "no limit")
    -> decltype(parse(name, text))
{
    if (text.empty())
        return 0;
    const auto value = parse(name, text);
    if (value == 0)
        fail_usage(std::string(name) + " 0 would stream nothing",
                   std::string("leave it out: ") + without);
    return value;
}

// Returns false if the endpoint is not a board.
bool add_reconnect(Uri& endpoint, const std::string& time)
{
    if (endpoint.scheme != "usb")
        return false;
    endpoint.options.set("reconnect", time);
    return true;
}

} // namespace

PipelineConfig StreamOptions::config(const std::vector<Uri>& uris) const
{
    PipelineConfig config;
    config.source = uris[0];
    config.sinks.assign(uris.begin() + 1, uris.end());
    config.samples = nonzero<parse_size>("--samples", samples);
    config.bytes = nonzero<parse_size>("--bytes", bytes);
    config.block_size =
        nonzero<parse_memory_size>("--block-size", block_size, "default about 10 ms");
    config.blocks = nonzero<parse_memory_size>("--blocks", blocks, "default 250 ms worth");
    if (!duration.empty() &&
        (config.duration = parse_duration("--duration", duration)).count() == 0)
        fail_usage("--duration 0 would stream nothing", "leave it out for no limit");
    if (!timeout.empty() && (config.timeout = parse_duration("--timeout", timeout)).count() == 0)
        fail_usage("--timeout 0 would time out at once");
    config.on_gap = parse_on_gap(on_gap);
    return config;
}

void StreamOptions::add_reconnect(std::vector<PipelineConfig>& pipelines) const
{
    if (reconnect.empty())
        return;
    bool found = false;
    for (PipelineConfig& pipeline : pipelines) {
        found = cli::add_reconnect(pipeline.source, reconnect) || found;
        for (Uri& sink : pipeline.sinks)
            found = cli::add_reconnect(sink, reconnect) || found;
    }
    if (!found)
        fail_usage("--reconnect " + reconnect + ": no endpoint can reconnect",
                   "only usb: sources and sinks can");
}

void StreamOptions::refuse_recordings(const std::vector<PipelineConfig>& pipelines) const
{
    std::vector<std::string> streamed;
    const auto add = [&](const Uri& uri) {
        if (uri.scheme == "file")
            streamed.push_back(uri.rest);
    };
    for (const PipelineConfig& pipeline : pipelines) {
        add(pipeline.source);
        std::for_each(pipeline.sinks.begin(), pipeline.sinks.end(), add);
    }
    if (wants_json() && json != "true") {
        refuse_recording("--json", json, streamed);
        require_folder(json);
    }
    streamed.push_back(wants_json() && json != "true" ? json : "");
    if (!metrics_file.empty())
        refuse_recording("--metrics-file", metrics_file, streamed);
    streamed.push_back(metrics_file);
    if (!events.empty() && events != "-")
        refuse_recording("--events", events, streamed);
}

Thresholds StreamOptions::thresholds() const
{
    Thresholds limits;
    if (!max_gaps.empty())
        limits.max_gaps = parse_size("--max-gaps", max_gaps);
    if (!max_lost.empty())
        limits.max_lost = parse_size("--max-lost", max_lost);
    if (!min_rate.empty())
        limits.min_rate = parse_rate("--min-rate", min_rate);
    return limits;
}

} // namespace iio_stream::cli
