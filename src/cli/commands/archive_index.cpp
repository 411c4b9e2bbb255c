// SPDX-License-Identifier: MIT
#include "iio_stream/archive_index.hpp"

#include "cli/commands/archive.hpp"
#include "cli/output/print.hpp"
#include "cli/output/summary_text.hpp"

#include <cstdio>

namespace iio_stream::cli {

namespace {

Json index_json(const ArchiveConfig& config, const IndexReport& report)
{
    return {{"place", config.place}, {"recordings", report.recordings}, {"parts", report.parts},
            {"read", report.read},   {"unfinished", report.unfinished}, {"damaged", report.damaged},
            {"bytes", report.bytes}};
}

} // namespace

int archive_index(const ArchiveConfig& config, const ArchiveOutput& output)
{
    IndexReport report;
    const std::optional<Error> error = run_archive([&]() -> std::optional<Error> {
        report = index_archive(config, [] { return !is_archive_ended(); });
        return {};
    });
    return report_archive({"index", index_json(config, report), {}, error}, output, [&] {
        if (!error)
            print_line(stdout,
                       "%s: indexed %s in %s, read the metadata of %s; %llu unfinished, %llu "
                       "damaged; index: %s",
                       config.place.c_str(), counted(report.recordings, "recording").c_str(),
                       counted(report.parts, "part").c_str(), counted(report.read, "part").c_str(),
                       static_cast<unsigned long long>(report.unfinished),
                       static_cast<unsigned long long>(report.damaged),
                       size_text(report.bytes).c_str());
    });
}

} // namespace iio_stream::cli
