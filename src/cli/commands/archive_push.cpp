// SPDX-License-Identifier: MIT
#include "cli/commands/archive.hpp"
#include "cli/output/print.hpp"
#include "cli/output/summary_text.hpp"

#include <cerrno>
#include <cstdio>

namespace iio_stream::cli {

namespace {

Json pushed_json(const PushConfig& config, const PushReport& report)
{
    return {{"folder", config.folder},   {"archive", config.archive},
            {"parts", report.parts},     {"stored", report.stored},
            {"already", report.already}, {"unfinished", report.unfinished},
            {"removed", report.removed}, {"removed_bytes", report.removed_bytes},
            {"bytes", report.bytes},     {"resumed", report.resumed},
            {"retries", report.retries}, {"problems", report.problems}};
}

void print_pushed(const PushConfig& config, const PushReport& report)
{
    std::string text =
        formatted("%s: %llu of %llu parts stored, %llu already there; sent %s",
                  config.archive.c_str(), static_cast<unsigned long long>(report.stored),
                  static_cast<unsigned long long>(report.parts),
                  static_cast<unsigned long long>(report.already), size_text(report.bytes).c_str());
    if (report.resumed != 0)
        text += ", resumed after " + size_text(report.resumed);
    if (report.removed != 0)
        text +=
            formatted("; removed %llu here, %s", static_cast<unsigned long long>(report.removed),
                      size_text(report.removed_bytes).c_str());
    if (report.unfinished != 0)
        text += formatted("; %llu unfinished left alone",
                          static_cast<unsigned long long>(report.unfinished));
    if (report.retries != 0)
        text +=
            formatted("; %llu requests repeated", static_cast<unsigned long long>(report.retries));
    print_line(stdout, "%s", text.c_str());
}

} // namespace

int archive_push(const PushConfig& config, const ArchiveOutput& output)
{
    PushReport last;
    const std::optional<Error> error = run_archive([&]() -> std::optional<Error> {
        last = push_archive(config, [&](const PushReport& now) {
            if (!output.quiet && now.stored != last.stored)
                print_line(stderr, "iio-stream: archive: stored %llu of %llu parts, %s",
                           static_cast<unsigned long long>(now.stored),
                           static_cast<unsigned long long>(now.parts),
                           size_text(now.bytes).c_str());
            last = now;
            return !is_archive_ended();
        });
        if (!last.problems.empty())
            return Error(Fault::storage, EBADMSG, "push", config.folder,
                         counted(last.problems.size(), "recording") +
                             (last.problems.size() == 1 ? " is" : " are") + " not stored");
        if (is_archive_ended())
            return Error(Fault::other, EINTR, "push", config.folder,
                         "ended early; push again to continue");
        return {};
    });
    for (const std::string& problem : last.problems)
        print_line(stderr, "iio-stream: archive: %s", problem.c_str());
    return report_archive({"push", pushed_json(config, last), {}, error}, output,
                          [&] { print_pushed(config, last); });
}

} // namespace iio_stream::cli
