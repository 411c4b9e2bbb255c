// SPDX-License-Identifier: MIT
#include "cli/options.hpp"

#include "iio_stream/units.hpp"

#include <cerrno>

namespace iio_stream::cli {

void StreamOptions::add_to(CLI::App& app)
{
    app.add_option("words", words, "endpoints, each followed by its options as key=value")
        ->type_name("ENDPOINT [KEY=VALUE]…");
    app.add_option("--duration", duration, "stop after so long (2s, 5min)")->type_name("TIME");
    app.add_option("--samples", samples, "stop after so many samples of all channels")
        ->type_name("N");
    app.add_option("--bytes", bytes, "stop after so many bytes (256Mi)")->type_name("SIZE");
    app.add_option("--block-size", block_size, "bytes per block; default about 10 ms")
        ->type_name("SIZE");
    app.add_option("--blocks", blocks, "number of blocks; default 250 ms of them")->type_name("N");
    app.add_option("--timeout", timeout,
                   "longest wait for a block; default 2 block times and 1 s")
        ->type_name("TIME");
    app.add_option("--on-gap", on_gap, "what a loss does: mark (default), stop or zero-fill")
        ->type_name("WHAT");
    app.add_option("--max-gaps", max_gaps, "exit with 4 if more gaps are found")->type_name("N");
    app.add_option("--max-lost", max_lost, "exit with 4 if more samples may be lost")
        ->type_name("N");
    app.add_option("--min-rate", min_rate, "exit with 4 if fewer samples per second came")
        ->type_name("RATE");
    app.add_flag("--progress", progress, "show progress even where stderr is no terminal");
    app.add_flag("--no-progress", no_progress, "show no progress");
    app.add_flag("--json", json, "print the summary as one JSON object, or write it to =FILE");
    app.add_option("--metrics-file", metrics_file,
                   "keep counters in OpenMetrics text there, renewed each second")
        ->type_name("FILE");
    app.add_flag("--quiet,-q", quiet, "print errors only");
    app.add_flag("--verbose,-v", verbose, "print the route before the stream starts");
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
    fail_usage("--on-gap " + text + " is not known", suggest(text, {"mark", "stop", "zero-fill"}));
}

std::uint64_t size_or_zero(const char* name, const std::string& text)
{
    if (text.empty())
        return 0;
    const std::uint64_t value = parse_size(name, text);
    if (value == 0)
        fail_usage(std::string(name) + " 0 asks for nothing", "leave it out for no limit");
    return value;
}

} // namespace

PipelineConfig StreamOptions::config() const
{
    PipelineConfig config;
    config.samples = size_or_zero("--samples", samples);
    config.bytes = size_or_zero("--bytes", bytes);
    config.block_bytes = size_or_zero("--block-size", block_size);
    config.block_count = size_or_zero("--blocks", blocks);
    if (!duration.empty() && (config.duration = parse_duration("--duration", duration)).count() == 0)
        fail_usage("--duration 0 asks for nothing", "leave it out for no limit");
    if (!timeout.empty() && (config.timeout = parse_duration("--timeout", timeout)).count() == 0)
        fail_usage("--timeout 0: every wait needs some time");
    config.on_gap = parse_on_gap(on_gap);
    return config;
}

Thresholds Thresholds::from(const StreamOptions& options)
{
    Thresholds limits;
    if (!options.max_gaps.empty())
        limits.max_gaps = parse_size("--max-gaps", options.max_gaps);
    if (!options.max_lost.empty())
        limits.max_lost = parse_size("--max-lost", options.max_lost);
    if (!options.min_rate.empty())
        limits.min_rate = parse_rate("--min-rate", options.min_rate);
    return limits;
}

void Thresholds::apply(Summary& summary) const
{
    if (summary.error)
        return;
    const Stats& stats = summary.stats;
    std::string what;
    const std::uint64_t gaps = stats.gaps.certain + stats.gaps.possible;
    if (max_gaps && gaps > *max_gaps)
        what = std::to_string(gaps) + " gaps, more than --max-gaps " + std::to_string(*max_gaps);
    std::uint64_t lost = stats.gaps.lost_max;
    for (const SinkStats& sink : stats.sinks)
        if (lost != kUnknown)
            lost = std::max(lost, stats.gaps.lost_max + sink.dropped_samples);
    if (max_lost && lost > *max_lost)
        what = (lost == kUnknown ? "an unknown number of" : std::to_string(lost)) +
               " samples may be lost, more than --max-lost " + std::to_string(*max_lost);
    const double rate =
        stats.seconds > 0 ? static_cast<double>(stats.samples) / stats.seconds : 0;
    if (min_rate && rate < *min_rate)
        what = std::to_string(rate) + " samples per second, fewer than --min-rate " +
               std::to_string(*min_rate);
    if (!what.empty())
        summary.error = Error(Fault::samples, ENODATA, "", "", what);
}

} // namespace iio_stream::cli
