// SPDX-License-Identifier: MIT
#include "iio_stream/archive_pack.hpp"

#include "cli/commands/archive.hpp"
#include "cli/output/print.hpp"
#include "cli/output/summary_text.hpp"

#include <cstdio>

namespace iio_stream::cli {

namespace {

Json packed_json(const PackConfig& config, const PackReport& report)
{
    return {{"archive", config.archive},
            {"recordings", report.recordings},
            {"hashed", report.hashed},
            {"bytes", report.bytes}};
}

} // namespace

int archive_pack(const PackConfig& config, const ArchiveOutput& output)
{
    PackReport report;
    const std::optional<Error> error = run_archive([&]() -> std::optional<Error> {
        report = pack_recordings(config, [](const PackReport&) { return !is_archive_ended(); });
        return {};
    });
    return report_archive({"pack", packed_json(config, report), {}, error}, output, [&] {
        if (!error)
            print_line(stdout, "%s: packed %s, %s of samples; %llu compared with a hash",
                       config.archive.c_str(), counted(report.recordings, "recording").c_str(),
                       size_text(report.bytes).c_str(),
                       static_cast<unsigned long long>(report.hashed));
    });
}

} // namespace iio_stream::cli
