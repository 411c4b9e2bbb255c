// SPDX-License-Identifier: MIT
#include "cli/commands/archive.hpp"

#include "cli/command.hpp"
#include "cli/output/print.hpp"
#include "cli/output/summary_text.hpp"
#include "iio_stream/units.hpp"
#include "iio_stream/utc.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <iterator>
#include <unistd.h>

namespace iio_stream::cli {

namespace {

std::atomic<int> g_archive_ends{0};

void end_archive(int)
{
    if (++g_archive_ends > 1)
        ::_exit(130);
}

/// The command line, with the values as given.
struct Words {
    std::string verb, place;
    std::vector<std::string>
        more; ///< the destination of push, pull and pack; more recordings for pack precede it
    std::string keep, bandwidth, retry, older, keep_size, name;
    std::vector<std::string> times;
    bool dry_run = false, indexed = false, data = false, overwrite = false;
    ArchiveOutput output;

    ArchiveConfig archive() const
    {
        ArchiveConfig made{.place = place};
        if (!retry.empty())
            made.retry = parse_duration("retry", retry);
        return made;
    }
};

int run_push(const Words& words)
{
    PushConfig config{.folder = words.place, .archive = words.more[0]};
    config.retry = words.archive().retry;
    if (!words.keep.empty())
        config.keep = words.keep;
    if (!words.bandwidth.empty())
        config.bandwidth = static_cast<double>(parse_size("bandwidth", words.bandwidth));
    return archive_push(config, words.output);
}

int run_list(const Words& words)
{
    return archive_list(words.archive(), words.indexed, words.output);
}

int run_index(const Words& words)
{
    return archive_index(words.archive(), words.output);
}

int run_verify(const Words& words)
{
    return archive_verify({.archive = words.archive(), .data = words.data}, words.output);
}

int run_prune(const Words& words)
{
    PruneConfig config{.archive = words.archive()};
    if (!words.older.empty())
        config.older = parse_duration("older", words.older);
    if (!words.keep_size.empty())
        config.keep_bytes = parse_size("keep-size", words.keep_size);
    config.dry_run = words.dry_run;
    return archive_prune(config, words.output);
}

std::optional<std::int64_t> time_of(const std::string& text)
{
    return text == "-" ? std::nullopt : std::optional(parse_utc("time", text));
}

int run_pull(const Words& words)
{
    PullConfig config{.archive = words.archive(), .folder = words.more[0]};
    if (!words.name.empty())
        config.name = words.name;
    if (!words.times.empty()) {
        config.from_ns = time_of(words.times[0]);
        config.to_ns = time_of(words.times[1]);
    }
    return archive_pull(config, words.output);
}

int run_pack(const Words& words)
{
    PackConfig config{
        .recordings = {words.place}, .archive = words.more.back(), .overwrite = words.overwrite};
    config.recordings.insert(config.recordings.end(), words.more.begin(), words.more.end() - 1);
    return archive_pack(config, words.output);
}

struct Verb {
    const char *name, *target; ///< target: the destination it needs, or nullptr
    int (*run)(const Words& words);
};
constexpr Verb kVerbs[] = {
    {"push", "s3://BUCKET/PREFIX", &run_push}, {"list", nullptr, &run_list},
    {"verify", nullptr, &run_verify},          {"prune", nullptr, &run_prune},
    {"pull", "a folder", &run_pull},           {"index", nullptr, &run_index},
    {"pack", "NAME.sigmf", &run_pack}};

/// An option that only one verb takes.
struct Only {
    const char *option, *verb;
};
constexpr Only kOnly[] = {{"--keep", "push"},       {"--bandwidth", "push"}, {"--older", "prune"},
                          {"--keep-size", "prune"}, {"--dry-run", "prune"},  {"--time", "pull"},
                          {"--name", "pull"},       {"--indexed", "list"},   {"--data", "verify"},
                          {"--overwrite", "pack"}};

const Verb& verb_of(const CLI::App& app, const Words& words)
{
    const Verb* const verb = std::find_if(std::begin(kVerbs), std::end(kVerbs),
                                          [&](const Verb& one) { return words.verb == one.name; });
    if (verb == std::end(kVerbs))
        fail_usage("archive has no verb '" + words.verb + "'",
                   "use push, list, verify, prune, pull, index or pack");
    for (const Only& one : kOnly)
        if (app.count(one.option) != 0 && words.verb != one.verb)
            fail_usage("archive " + words.verb + " takes no " + one.option,
                       std::string("it is for ") + one.verb);
    if (verb->target != nullptr && words.more.empty())
        fail_usage("archive " + words.verb + " " + words.place + " has no destination",
                   verb->target);
    const std::size_t most = verb->target == nullptr ? 0 : 1;
    if (words.more.size() > most && words.verb != "pack")
        fail_usage("archive " + words.verb + " takes " + (most == 0 ? "one place" : "two places") +
                   ", so '" + words.more[most] + "' is unexpected");
    return *verb;
}

void add_options(CLI::App& app, Words& words)
{
    app.add_option("verb", words.verb, "what to do")
        ->type_name("push|list|verify|prune|pull|index|pack")
        ->required();
    app.add_option("place", words.place,
                   "a folder, file:///FOLDER or s3://BUCKET/PREFIX; for push a folder, for pack a "
                   "recording")
        ->type_name("PLACE")
        ->required();
    app.add_option(
           "to", words.more,
           "the destination: s3://BUCKET/PREFIX for push, a folder for pull; for pack, more "
           "recordings and then the archive, NAME.sigmf")
        ->type_name("[TO]…");
    app.add_option("--keep", words.keep,
                   "push: the stored recordings to keep here: all, none, last:100Gi, last:24h; "
                   "default all")
        ->type_name("RULE");
    app.add_option("--bandwidth", words.bandwidth, "push: send at most this much per second (10Mi)")
        ->type_name("SIZE");
    app.add_option("--older", words.older,
                   "prune: remove parts whose last sample is older than this (30d)")
        ->type_name("TIME");
    app.add_option("--keep-size", words.keep_size,
                   "prune: remove the oldest parts beyond this size (1Ti)")
        ->type_name("SIZE");
    app.add_flag("--dry-run", words.dry_run,
                 "prune: show what would be removed, and remove nothing");
    app.add_option("--time", words.times,
                   "pull: only parts with samples in this time range (UTC, 2026-11-26T23:00); - "
                   "means no limit")
        ->type_name("FROM TO")
        ->expected(2);
    app.add_option("--name", words.name,
                   "pull: only recordings of this name, with the wildcards * and ? (roof*)")
        ->type_name("PATTERN");
    app.add_flag("--indexed", words.indexed,
                 "list: quickly show what archive index found when it last ran");
    app.add_flag("--data", words.data,
                 "verify: read all samples, and compare those whose metadata have no hash with the "
                 "store's MD5");
    app.add_flag("--overwrite", words.overwrite, "pack: replace an archive of that name");
    app.add_option("--retry", words.retry,
                   "retry this long if the store is unreachable or busy; default 5min")
        ->type_name("TIME");
    app.add_flag("--json", words.output.json,
                 "print the summary as one JSON object, or write it to =FILE");
    app.add_flag("--quiet,-q", words.output.quiet, "print errors only");
}

} // namespace

std::optional<Error> run_archive(const std::function<std::optional<Error>()>& verb)
try {
    on_end_signals(&end_archive);
    return verb();
} catch (const Error& failure) {
    if (failure.fault() == Fault::usage)
        throw;
    return failure;
}

bool is_archive_ended() noexcept
{
    return g_archive_ends != 0;
}

int report_archive(const ArchiveResult& result, const ArchiveOutput& output,
                   const std::function<void()>& text)
{
    for (const ArchiveProblem& one : result.problems)
        print_line(stderr, "iio-stream: archive: %s: %s", one.name.c_str(), one.what.c_str());
    if (output.wants_json()) {
        Json json{{"schema", 1}, {"command", "archive " + result.verb}};
        json.update(result.report);
        json["error"] = result.error ? Json(result.error->what()) : Json(nullptr);
        print_json(json_text(json), output.json);
    } else if (!output.quiet) {
        text();
    }
    return result.error ? print_error("archive", *result.error) : 0;
}

Json problems_json(const std::vector<ArchiveProblem>& problems)
{
    Json json = Json::array();
    for (const ArchiveProblem& one : problems)
        json.push_back({{"name", one.name}, {"what", one.what}});
    return json;
}

std::string size_text(std::uint64_t bytes)
{
    return human_bytes(static_cast<double>(bytes));
}

int archive_command(std::vector<std::string> arguments)
{
    Parser parser("archive",
                  "Recordings in S3-compatible object storage, or in a folder:\n"
                  "  push FOLDER s3://BUCKET/PREFIX   uploads the closed recordings of a folder\n"
                  "  list PLACE                       lists what is there\n"
                  "  verify PLACE                     checks sizes, hashes, and that parts follow "
                  "one another\n"
                  "  prune PLACE                      removes the oldest parts, by age or by size\n"
                  "  pull PLACE FOLDER                fetches parts into a folder\n"
                  "  index PLACE                      collects all metadata in one object, "
                  "for list --indexed\n"
                  "  pack RECORDING… NAME.sigmf       writes a SigMF archive, a tar file\n"
                  "Address and credentials come from the same places as for other S3 clients\n"
                  "(AWS_ENDPOINT_URL, AWS_ACCESS_KEY_ID, ~/.aws/credentials).",
                  "iio-stream record sim: roof rotate_bytes=1Mi overwrite=on --duration 1s && "
                  "iio-stream archive list .");
    Words words;
    add_options(parser.app(), words);
    parser.parse(std::move(arguments));
    return verb_of(parser.app(), words).run(words);
}

} // namespace iio_stream::cli
