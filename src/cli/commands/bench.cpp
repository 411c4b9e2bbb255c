// SPDX-License-Identifier: MIT
#include "cli/commands/find_rate.hpp"
#include "cli/output/print.hpp"
#include "cli/output/summary_text.hpp"
#include "cli/parsing/parse_endpoints.hpp"
#include "cli/run.hpp"
#include "iio_stream/units.hpp"

#include <cstdio>

namespace iio_stream::cli {

namespace {

/// The values of --sweep: "block-size=64Ki..8Mi,blocks=2..32". Each is a single value, or a range
/// in which each value is twice the previous one.
struct Sweep {
    std::vector<std::size_t> block_sizes{0}, blocks{0};

    static Sweep parse(const std::string& text);
};

std::vector<std::size_t> parse_range(const std::string& key, const std::string& text)
{
    const std::size_t dots = text.find("..");
    const std::string first = text.substr(0, dots);
    const std::size_t from = parse_memory_size(key, first);
    const std::size_t to =
        dots == std::string::npos ? from : parse_memory_size(key, text.substr(dots + 2));
    if (from == 0 || to < from)
        fail_usage("--sweep " + key + "=" + text + " is not a range", "such as 64Ki..8Mi");
    std::vector<std::size_t> values;
    for (std::uint64_t value = from; value <= to; value *= 2)
        values.push_back(static_cast<std::size_t>(value));
    return values;
}

Sweep Sweep::parse(const std::string& text)
{
    Sweep sweep;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t comma = std::min(text.find(',', at), text.size());
        const std::string part = text.substr(at, comma - at);
        const std::size_t equals = part.find('=');
        const std::string key = part.substr(0, equals);
        if (equals == std::string::npos || (key != "block-size" && key != "blocks"))
            fail_usage("--sweep " + part + " is not valid", "block-size=FROM..TO,blocks=FROM..TO");
        (key == "blocks" ? sweep.blocks : sweep.block_sizes) =
            parse_range(key, part.substr(equals + 1));
        at = comma + 1;
    }
    return sweep;
}

void print_row(const Summary& s)
{
    const double seconds = s.stats.seconds > 0 ? s.stats.seconds : 1;
    const double gib = static_cast<double>(s.stats.bytes) / 1073741824.0;
    const double cpu = s.cpu.user_seconds + s.cpu.system_seconds;
    print_line(stdout, "%10s %6zu %12s/s %10s/s %9.3f %9.0f %9.0f %8llu %8llu",
               human_bytes(static_cast<double>(s.block_size)).c_str(), s.block_count,
               human_bytes(static_cast<double>(s.stats.bytes) / seconds).c_str(),
               (human_count(static_cast<double>(s.stats.samples) / seconds) + "S").c_str(),
               gib > 0 ? cpu / gib : 0, s.latency.p50_us, s.latency.p99_us,
               static_cast<unsigned long long>(s.stats.gaps.certain),
               static_cast<unsigned long long>(s.stats.gaps.possible));
    std::fflush(stdout);
}

} // namespace

int bench_command(std::vector<std::string> arguments)
{
    Parser parser("bench", "Measures how fast samples move from a source to a sink (null:).",
                  "iio-stream bench sim: rate=0 pattern=stamp null: --sweep "
                  "block-size=64Ki..1Mi,blocks=4..8 --duration 200ms");
    StreamOptions options;
    std::string sweep_text, rates;
    options.add_to(parser.app(), "SOURCE [KEY=VALUE]… [SINK [KEY=VALUE]…]");
    parser.app()
        .add_option("--sweep", sweep_text,
                    "run once per combination: block-size=64Ki..8Mi,blocks=2..32")
        ->type_name("RANGES");
    parser.app().add_flag(
        "--find-rate", rates,
        "find the highest rate at which no sample is lost: the best one passes a run of --duration "
        "(default 10 s); =FROM..TO limits the search");
    parser.parse(std::move(arguments));
    std::vector<Uri> uris = parse_endpoints(options.words);
    if (uris.empty())
        fail_usage("no source given", parser.such_as());
    if (uris.size() == 1)
        uris.push_back("null:");
    if (!rates.empty()) {
        if (!sweep_text.empty() || !options.samples.empty() || !options.bytes.empty())
            fail_usage("--find-rate cannot be combined with --sweep, --samples or --bytes",
                       "--duration sets the length of its runs");
        if (options.duration.empty())
            options.duration = "10s";
        return find_rate(rates, uris, options);
    }
    if (options.duration.empty() && options.samples.empty() && options.bytes.empty())
        options.duration = sweep_text.empty() ? "5s" : "1s";

    const Sweep sweep = Sweep::parse(sweep_text);
    const bool table = !options.wants_json() && !options.quiet && !sweep_text.empty();
    if (table)
        print_line(stdout, "%10s %6s %14s %12s %9s %9s %9s %8s %8s", "block", "blocks", "bytes",
                   "samples", "cpu-s/GiB", "p50 µs", "p99 µs", "certain", "possible");
    std::vector<Summary> summaries;
    for (const std::size_t size : sweep.block_sizes)
        for (const std::size_t count : sweep.blocks) {
            PipelineConfig config = options.config(uris);
            if (size != 0)
                config.block_size = size;
            if (count != 0)
                config.blocks = count;
            summaries.push_back(run("bench", {config}, options)[0]);
            if (table && !summaries.back().error)
                print_row(summaries.back());
            if (summaries.back().ended == "signal" ||
                (summaries.back().error && summaries.back().error->fault() != Fault::samples))
                return report("bench", summaries, options, !sweep_text.empty());
        }
    if (table)
        options.quiet = true; // the table already shows the results
    return report("bench", summaries, options, !sweep_text.empty());
}

} // namespace iio_stream::cli
