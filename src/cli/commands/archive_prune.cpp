// SPDX-License-Identifier: MIT
#include "iio_stream/archive_prune.hpp"

#include "cli/commands/archive.hpp"
#include "cli/output/print.hpp"
#include "cli/output/summary_text.hpp"
#include "iio_stream/utc.hpp"

#include <cerrno>
#include <cstdio>

namespace iio_stream::cli {

namespace {

Json pruned_json(const PruneConfig& config, const PruneReport& report)
{
    Json json{
        {"place", config.archive.place}, {"dry_run", config.dry_run}, {"removed", Json::array()}};
    for (const PrunedPart& part : report.removed)
        json["removed"].push_back(
            {{"name", part.name}, {"bytes", part.bytes}, {"end", format_utc(part.end_ns)}});
    json["removed_bytes"] = report.removed_bytes;
    json["parts"] = report.parts;
    json["bytes"] = report.bytes;
    json["unfinished"] = report.unfinished;
    json["damaged"] = report.damaged;
    json["problems"] = problems_json(report.problems);
    return json;
}

void print_pruned(const PruneConfig& config, const PruneReport& report)
{
    const char* const what = config.dry_run ? "would remove" : "removed";
    for (const PrunedPart& part : report.removed)
        print_line(stdout, "%s %s, %s, recorded until %s", what, part.name.c_str(),
                   size_text(part.bytes).c_str(), format_utc(part.end_ns).c_str());
    print_line(stdout, "%s: %s %s, %s; %s, %s, %s", config.archive.place.c_str(), what,
               counted(report.removed.size(), "part").c_str(),
               size_text(report.removed_bytes).c_str(), counted(report.parts, "part").c_str(),
               size_text(report.bytes).c_str(), config.dry_run ? "would stay" : "stay");
}

} // namespace

int archive_prune(const PruneConfig& config, const ArchiveOutput& output)
{
    PruneReport report;
    const std::optional<Error> error = run_archive([&]() -> std::optional<Error> {
        report = prune_archive(config, [] { return !is_archive_ended(); });
        if (!report.problems.empty())
            return Error(Fault::storage, EBUSY, "prune", config.archive.place,
                         counted(report.problems.size(), "part") + " not removed");
        if (is_archive_ended())
            return Error(Fault::other, EINTR, "prune", config.archive.place, "ended early");
        return {};
    });
    return report_archive({"prune", pruned_json(config, report), report.problems, error}, output,
                          [&] {
                              if (!error || report.parts != 0 || !report.removed.empty())
                                  print_pruned(config, report);
                          });
}

} // namespace iio_stream::cli
