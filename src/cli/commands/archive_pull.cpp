// SPDX-License-Identifier: MIT
#include "iio_stream/archive_pull.hpp"

#include "cli/commands/archive.hpp"
#include "cli/output/print.hpp"
#include "cli/output/summary_text.hpp"

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
    std::string text = formatted(
        "%s: %llu of %s fetched, %llu there already; read %s", config.folder.c_str(),
        static_cast<unsigned long long>(report.pulled), counted(report.parts, "part").c_str(),
        static_cast<unsigned long long>(report.already), size_text(report.bytes).c_str());
    if (report.resumed != 0)
        text += ", resumed after " + size_text(report.resumed);
    if (!report.damaged.empty())
        text +=
            formatted("; %zu damaged in %s", report.damaged.size(), config.archive.place.c_str());
    print_line(stdout, "%s", text.c_str());
}

} // namespace

int archive_pull(const PullConfig& config, const ArchiveOutput& output)
{
    PullReport last;
    const std::optional<Error> error = run_archive([&]() -> std::optional<Error> {
        last = pull_archive(config, [&last](const PullReport& now) {
            last = now;
            return !is_archive_ended();
        });
        std::string bad;
        if (!last.problems.empty())
            bad = counted(last.problems.size(), "part") + " not fetched";
        if (!last.damaged.empty())
            bad += (bad.empty() ? "" : ", ") + counted(last.damaged.size(), "damaged part") +
                   " left out";
        if (!bad.empty())
            return Error(Fault::storage, EBADMSG, "pull", config.archive.place, bad);
        return {};
    });
    std::vector<ArchiveProblem> bad = last.problems;
    bad.insert(bad.end(), last.damaged.begin(), last.damaged.end());
    return report_archive({"pull", pulled_json(config, last), bad, error}, output,
                          [&] { print_pulled(config, last); });
}

} // namespace iio_stream::cli
