// SPDX-License-Identifier: MIT
#include "iio_stream/archive.hpp"

#include "cli/command.hpp"
#include "cli/exit_status.hpp"
#include "cli/json.hpp"
#include "cli/run.hpp"
#include "iio_stream/units.hpp"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <unistd.h>

namespace iio_stream::cli {

namespace {

std::atomic<int> g_push_ends{0};

void end_push(int)
{
    if (++g_push_ends > 1)
        ::_exit(130);
}

std::string json_of(const PushConfig& config, const PushReport& report, const std::optional<Error>& error)
{
    Json json{{"schema", 1},
              {"command", "archive push"},
              {"folder", config.folder},
              {"archive", config.archive},
              {"parts", report.parts},
              {"stored", report.stored},
              {"already", report.already},
              {"unfinished", report.unfinished},
              {"removed", report.removed},
              {"removed_bytes", report.removed_bytes},
              {"bytes", report.bytes},
              {"resumed", report.resumed},
              {"retries", report.retries},
              {"problems", report.problems}};
    json["error"] = error ? Json(error->what()) : Json(nullptr);
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string size_text(std::uint64_t bytes)
{
    return human_bytes(static_cast<double>(bytes));
}

void print(const PushConfig& config, const PushReport& report)
{
    std::printf("%s: %llu of %llu parts stored, %llu already there; sent %s", config.archive.c_str(),
                static_cast<unsigned long long>(report.stored), static_cast<unsigned long long>(report.parts),
                static_cast<unsigned long long>(report.already), size_text(report.bytes).c_str());
    if (report.resumed != 0)
        std::printf(", resumed after %s", size_text(report.resumed).c_str());
    if (report.removed != 0)
        std::printf("; removed %llu here, %s", static_cast<unsigned long long>(report.removed),
                    size_text(report.removed_bytes).c_str());
    if (report.unfinished != 0)
        std::printf("; %llu unfinished left alone", static_cast<unsigned long long>(report.unfinished));
    if (report.retries != 0)
        std::printf("; %llu requests repeated", static_cast<unsigned long long>(report.retries));
    std::putchar('\n');
}

int push(const PushConfig& config, bool quiet, const std::string& json)
{
    PushReport last;
    std::optional<Error> error;
    on_end_signals(&end_push);
    try {
        last = push_archive(config, [&](const PushReport& now) {
            if (!quiet && now.stored != last.stored)
                std::fprintf(stderr, "iio-stream: archive: stored %llu of %llu parts, %s\n",
                             static_cast<unsigned long long>(now.stored), static_cast<unsigned long long>(now.parts),
                             size_text(now.bytes).c_str());
            last = now;
            return g_push_ends == 0;
        });
        if (!last.problems.empty())
            error = Error(Fault::storage, EBADMSG, "push", config.folder,
                          std::to_string(last.problems.size()) +
                              (last.problems.size() == 1 ? " recording is" : " recordings are") + " not stored");
        else if (g_push_ends != 0)
            error = Error(Fault::other, EINTR, "push", config.folder, "ended early; push again to go on");
    } catch (const Error& failure) {
        if (failure.fault() == Fault::usage)
            throw;
        error = failure;
    }
    for (const std::string& problem : last.problems)
        std::fprintf(stderr, "iio-stream: archive: %s\n", problem.c_str());
    if (!json.empty() && json != "false")
        print_json(json_of(config, last, error), json);
    else if (!quiet)
        print(config, last);
    return error ? tell("archive", *error) : 0;
}

} // namespace

int archive_command(std::vector<std::string> arguments)
{
    Parser parser("archive",
                  "Uploads the closed recordings of a folder to S3-compatible object storage: archive push. Address and\n"
                  "credentials are those of other S3 clients (AWS_ENDPOINT_URL, AWS_ACCESS_KEY_ID, ~/.aws/credentials).",
                  "iio-stream archive push /data/roof s3://recordings/roof --bandwidth 10Mi");
    std::string verb, bandwidth, retry, json;
    PushConfig config;
    bool quiet = false;
    CLI::App& app = parser.app();
    app.add_option("verb", verb, "push")->type_name("VERB")->required();
    app.add_option("folder", config.folder, "of recordings; subfolders are included")->type_name("FOLDER")->required();
    app.add_option("archive", config.archive, "s3://BUCKET/PREFIX")->type_name("ARCHIVE")->required();
    app.add_option("--keep", config.keep,
                   "which of the stored recordings stay here: all, none, last:100Gi, last:24h; default all")
        ->type_name("RULE");
    app.add_option("--bandwidth", bandwidth, "send at most this much per second (10Mi)")->type_name("SIZE");
    app.add_option("--retry", retry, "ask a store that is away or busy again for this long; default 5min")
        ->type_name("TIME");
    app.add_flag("--json", json, "print the summary as one JSON object, or write it to =FILE");
    app.add_flag("--quiet,-q", quiet, "print errors only");
    parser.parse(std::move(arguments));
    if (verb != "push")
        fail_usage("archive has no verb '" + verb + "'", "use push");
    if (!bandwidth.empty())
        config.bandwidth = static_cast<double>(parse_size("bandwidth", bandwidth));
    if (!retry.empty())
        config.retry = parse_duration("retry", retry);
    return push(config, quiet, json);
}

} // namespace iio_stream::cli
