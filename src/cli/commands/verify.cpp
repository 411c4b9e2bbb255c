// SPDX-License-Identifier: MIT
#include "cli/output/exit_status.hpp"
#include "cli/output/json.hpp"
#include "cli/output/print.hpp"
#include "cli/output/summary_text.hpp"
#include "cli/parsing/parse_endpoints.hpp"
#include "cli/run.hpp"
#include "iio_stream/recording.hpp"
#include "iio_stream/units.hpp"

#include <cerrno>
#include <cstdio>
#include <optional>
#include <sys/stat.h>

namespace iio_stream::cli {

namespace {

const char* name_of(Hash hash)
{
    static constexpr const char* kNames[] = {"none", "unchecked", "good", "bad", "added"};
    return kNames[static_cast<int>(hash)];
}

std::uint64_t zeros_in(const Recording& recording)
{
    std::uint64_t count = 0;
    for (const Zeros& filled : recording.zeros)
        count += filled.end - filled.begin;
    return count;
}

Json recording_json(const Recording& r)
{
    Json json{{"kind", r.metadata.empty() ? "raw" : "sigmf"}, {"needs_recover", r.needs_recover}};
    json["gaps"] = gaps_json(r.gaps);
    json["zeros"] = zeros_in(r);
    json["state"] = r.state.empty() ? Json(nullptr) : Json(r.state);
    json["hash"] = name_of(r.hash);
    json["problems"] = r.problems;
    return json;
}

std::string verification_json(const std::string& file, const Summary& summary,
                              const std::optional<Recording>& recording)
{
    Json json{{"schema", 1}, {"command", "verify"}, {"file", file}};
    json["ok"] = !summary.error.has_value();
    const Json whole = Json::parse(to_json(summary));
    json["bytes"] = summary.stats.bytes;
    json["samples"] = summary.stats.samples;
    json["sample_format"] = whole["sample_format"];
    json["sample_bytes"] = whole["sample_bytes"];
    json["pattern"] = nullptr;
    if (!summary.sink_reports.empty() && !summary.sink_reports[0].empty())
        json["pattern"] = Json::parse(summary.sink_reports[0]);
    json["recording"] = recording ? recording_json(*recording) : Json(nullptr);
    json["error"] = whole["error"];
    return json_text(json);
}

// Checks the size, metadata and hash of a file. Returns nullopt for input that can be read only
// once.
std::optional<Recording> check_files(const Uri& uri, bool add_hash)
{
    struct stat status {};
    const bool special = ::stat(uri.rest.c_str(), &status) == 0 && !S_ISREG(status.st_mode) &&
                         !S_ISDIR(status.st_mode);
    const bool skips = !uri.options.get("skip", "").empty(); // check_recording() would ignore it
    if (uri.scheme == "file" && uri.rest != "-" && !special && !skips)
        return check_recording(uri.rest, uri.options.get("format", ""), add_hash);
    if (add_hash)
        fail_usage("--add-hash " + uri.rest + ": not a file");
    return std::nullopt;
}

// The first problem in the files themselves. Samples are checked only if there is none.
std::optional<Error> first_problem(const Recording& recording, const std::string& file)
{
    if (recording.problems.empty())
        return std::nullopt;
    std::string what = recording.problems[0];
    if (recording.problems.size() > 1)
        what += " (and " + std::to_string(recording.problems.size() - 1) + " more)";
    return Error(Fault::storage, EBADMSG, "verify", file, what,
                 recording.needs_recover ? "iio-stream recover " + file : "");
}

Summary summary_of(const Recording& recording, const Error& error)
{
    Summary summary;
    summary.format = recording.format;
    summary.stats.bytes = recording.bytes;
    summary.stats.samples = recording.samples;
    summary.ended = "error";
    summary.error = error;
    return summary;
}

struct Findings {
    std::optional<Recording> recording;
    std::optional<Error> problem;
};

// Any error except a usage Error is part of the result.
Findings find_problems(const Uri& uri, const std::string& file, bool add_hash,
                       const Thresholds& limits)
try {
    Findings found;
    found.recording = check_files(uri, add_hash);
    const bool lists_losses = found.recording && !found.recording->metadata.empty();
    if ((limits.max_gaps || limits.max_lost) && !lists_losses)
        fail_usage("--max-gaps and --max-lost: " + file + " does not record losses",
                   "SigMF recordings do: record to a .sigmf-meta");
    if (found.recording)
        found.problem = first_problem(*found.recording, file);
    return found;
} catch (const Error& error) {
    if (error.fault() == Fault::usage)
        throw;
    return {std::nullopt, error};
}

// Adds the file name to errors of the comparison and of a limit, which do not contain it.
Error named(const Error& error, const std::string& file, const std::string& pattern)
{
    const bool compared = error.object().starts_with("verify:");
    if (!compared && !error.object().empty())
        return error;
    return {error.fault(), error.code().value(), "verify", file,
            (compared ? pattern + ": " : "") + error.detail()};
}

void print_verification(const std::string& file, const Summary& summary,
                        const std::optional<Recording>& recording, const std::string& pattern)
{
    std::string text =
        pattern.empty() ? "size is right" : "every sample in place (" + pattern + ")";
    if (recording && !recording->metadata.empty()) {
        text += ", metadata valid";
        if (recording->gaps.certain + recording->gaps.possible != 0)
            text += ", " + std::to_string(recording->gaps.certain) + " certain and " +
                    std::to_string(recording->gaps.possible) + " possible gaps";
        if (const std::uint64_t zeros = zeros_in(*recording); zeros != 0)
            text += ", " + std::to_string(zeros) + " zeros in place of lost samples";
        if (recording->state == "interrupted")
            text += ", ended early by an error";
        else if (recording->state == "recovered")
            text += ", recovered after an interruption";
        text += std::string(", hash ") + name_of(recording->hash);
    }
    print_line(stdout, "%s: %llu samples of %s, %s: %s", file.c_str(),
               static_cast<unsigned long long>(summary.stats.samples),
               summary.format.name().c_str(),
               human_bytes(static_cast<double>(summary.stats.bytes)).c_str(), text.c_str());
}

} // namespace

int verify_command(std::vector<std::string> arguments)
{
    Parser parser("verify",
                  "Checks a recording: sizes, metadata, hash and, with --pattern, every sample.",
                  "iio-stream record sim: rate=0 capture.sigmf-meta overwrite=on --bytes 1Mi && "
                  "iio-stream verify --pattern ramp capture.sigmf-meta");
    std::vector<std::string> words;
    std::string pattern;
    bool add_hash = false;
    StreamOptions options;
    CLI::App& app = parser.app();
    app.add_option("file", words, "the recording, followed by its options: format=ci16_le")
        ->type_name("FILE [KEY=VALUE]…")
        ->required();
    app.add_option("--pattern", pattern, "compare every sample with a test pattern: ramp or lanes")
        ->type_name("PATTERN");
    options.add_loss_limits(app);
    app.add_flag("--add-hash", add_hash, "write the data file's SHA-512 into the metadata");
    app.add_flag("--json", options.json,
                 "print the result as one JSON object, or write it to =FILE");
    app.add_flag("--quiet,-q", options.quiet, "print errors only");
    parser.parse(std::move(arguments));

    const std::vector<Uri> uris = parse_endpoints(words);
    if (uris.size() != 1)
        fail_usage("verify checks one recording at a time");
    const auto sink = [&pattern](const Recording& recording) {
        return pattern.empty() ? "null:" : verify_sink(recording, pattern);
    };
    const Thresholds limits = options.thresholds();
    options.max_gaps = options.max_lost = ""; // they limit the recording, not this reading of it
    PipelineConfig config;
    config.source = uris[0];
    config.sinks = {sink({})}; // a wrong pattern is reported before anything is done
    const auto [recording, problem] = find_problems(uris[0], words[0], add_hash, limits);
    if (recording)
        config.sinks = {sink(*recording)};
    Summary summary = problem ? summary_of(recording.value_or(Recording{}), *problem)
                              : run("verify", {config}, options)[0];
    if (!summary.error && summary.ended != "eof")
        summary.error = Error(Fault::other, EINTR, "verify", words[0], "not read to the end");
    if (!summary.error && recording) {
        Stats recorded;
        recorded.gaps = recording->losses();
        summary.error = limits.check(recorded);
    }
    if (summary.error)
        summary.error = named(*summary.error, words[0], pattern);
    if (summary.error)
        (void)print_error("verify", *summary.error);
    if (options.wants_json())
        print_json(verification_json(words[0], summary, recording), options.json);
    else if (!options.quiet && !summary.error)
        print_verification(words[0], summary, recording, pattern);
    return exit_status(summary);
}

} // namespace iio_stream::cli
