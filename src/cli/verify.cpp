// SPDX-License-Identifier: MIT
#include "cli/run.hpp"
#include "cli/words.hpp"

#include <cerrno>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace iio_stream::cli {

namespace {

using Json = nlohmann::ordered_json;

std::string verdict_json(const std::string& file, const Summary& summary)
{
    Json json{{"schema", 1}, {"command", "verify"}, {"file", file}};
    json["ok"] = !summary.error.has_value();
    const Json whole = Json::parse(summary.json());
    json["bytes"] = summary.stats.bytes;
    json["samples"] = summary.stats.samples;
    json["sample_format"] = whole["sample_format"];
    json["sample_bytes"] = whole["sample_bytes"];
    json["pattern"] = nullptr;
    if (!summary.sink_reports.empty() && !summary.sink_reports[0].empty())
        json["pattern"] = Json::parse(summary.sink_reports[0]);
    json["error"] = whole["error"];
    return json.dump();
}

} // namespace

int verify_command(std::vector<std::string> arguments)
{
    Parser parser("verify", "Checks a recording: its size and, with --pattern, every sample.",
                  "iio-stream record sim: rate=0 capture.ci16 overwrite=on --bytes 1Mi && "
                  "iio-stream verify --pattern ramp capture.ci16");
    std::vector<std::string> words;
    std::string pattern;
    StreamOptions options;
    CLI::App& app = parser.app();
    app.add_option("file", words, "the recording, followed by its options: format=ci16_le")
        ->type_name("FILE [KEY=VALUE]…")
        ->required();
    app.add_option("--pattern", pattern, "compare every sample with a test pattern: ramp or lanes")
        ->type_name("PATTERN");
    app.add_flag("--json", options.json, "print the verdict as one JSON object, or write it to =FILE");
    app.add_flag("--quiet,-q", options.quiet, "print errors only");
    parser.parse(std::move(arguments));

    const std::vector<std::string> uris = endpoints(words);
    if (uris.size() != 1)
        fail_usage("verify checks one recording at a time");
    PipelineConfig config;
    config.source = uris[0];
    config.sinks = {pattern.empty() ? "null:" : "verify:" + pattern};
    Summary summary = run("verify", {config}, options)[0];
    if (!summary.error && summary.ended != "eof")
        summary.error = Error(Fault::other, EINTR, "verify", words[0], "not all of it was read");
    if (summary.error)
        (void)tell("verify", *summary.error);
    if (options.wants_json())
        print_json(verdict_json(words[0], summary), options.json);
    else if (!options.quiet && !summary.error)
        std::printf("%s: %llu samples of %s, %s: %s\n", words[0].c_str(),
                    static_cast<unsigned long long>(summary.stats.samples),
                    summary.format.name().c_str(),
                    human_bytes(static_cast<double>(summary.stats.bytes)).c_str(),
                    pattern.empty() ? "size is whole" : ("every sample in place (" + pattern + ")").c_str());
    return summary.exit_status();
}

} // namespace iio_stream::cli
