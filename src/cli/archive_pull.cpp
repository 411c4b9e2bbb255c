// SPDX-License-Identifier: MIT
#include "iio_stream/archive_pull.hpp"

#include "cli/archive.hpp"
#include "cli/command.hpp"
#include "cli/run.hpp"

#include <cerrno>
#include <cstdio>

namespace iio_stream::cli {

namespace {

Json pulled_json(const PullConfig& config, const PullReport& report)
{
    return {{"place", config.archive.place},
            {"folder", config.folder},
            {"parts", report.parts},
            {"pulled", report.pulled},
            {"already", report.already},
            {"bytes", report.bytes},
            {"resumed", report.resumed},
            {"problems", problems_json(report.problems)},
            {"damaged", problems_json(report.damaged)}};
}

void print_pulled(const PullConfig& config, const PullReport& report)
{
    std::printf("%s: %llu of %s fetched, %llu there already; read %s", config.folder.c_str(),
                static_cast<unsigned long long>(report.pulled), counted(report.parts, "part").c_str(),
                static_cast<unsigned long long>(report.already),
                human_bytes(static_cast<double>(report.bytes)).c_str());
    if (report.resumed != 0)
        std::printf(", resumed after %s", human_bytes(static_cast<double>(report.resumed)).c_str());
    if (!report.damaged.empty())
        std::printf("; %zu damaged in %s", report.damaged.size(), config.archive.place.c_str());
    std::putchar('\n');
}

} // namespace

int archive_pull(const PullConfig& config, const ArchiveOutput& output)
{
    PullReport last;
    std::optional<Error> error;
    let_archive_be_ended();
    try {
        last = pull_archive(config, [&last](const PullReport& now) {
            last = now;
            return !is_archive_ended();
        });
        if (!last.problems.empty())
            error = Error(Fault::storage, EBADMSG, "pull", config.archive.place,
                          counted(last.problems.size(), "part") + " not fetched");
        else if (!last.damaged.empty())
            error = Error(Fault::storage, EBADMSG, "pull", config.archive.place,
                          counted(last.damaged.size(), "damaged part") + " left out");
    } catch (const Error& failure) {
        if (failure.fault() == Fault::usage)
            throw;
        error = failure;
    }
    for (const ArchiveProblem& one : last.problems)
        std::fprintf(stderr, "iio-stream: archive: %s: %s\n", one.name.c_str(), one.what.c_str());
    if (output.wants_json())
        print_archive_json("pull", pulled_json(config, last), error, output);
    else if (!output.quiet)
        print_pulled(config, last);
    return error ? tell("archive", *error) : 0;
}

} // namespace iio_stream::cli
