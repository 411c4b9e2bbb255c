// SPDX-License-Identifier: MIT
#include "iio_stream/archive_verify.hpp"

#include "cli/archive.hpp"
#include "cli/run.hpp"

#include <cerrno>
#include <cstdio>

namespace iio_stream::cli {

namespace {

Json archive_verdict_json(const ArchiveConfig& config, const ArchiveVerdict& verdict, bool is_good)
{
    return {{"place", config.place},
            {"ok", is_good},
            {"recordings", verdict.recordings},
            {"parts", verdict.parts},
            {"good", verdict.good},
            {"without_hash", verdict.without_hash},
            {"bytes", verdict.bytes},
            {"gaps", gaps_json(verdict.gaps)},
            {"unfinished", verdict.unfinished},
            {"problems", problems_json(verdict.problems)}};
}

void print_archive_verdict(const ArchiveConfig& config, const ArchiveVerdict& verdict)
{
    std::printf(
        "%s: %s in %s: %llu of good hash, %llu without one; %s read; %llu certain and %llu "
        "possible losses; "
        "%zu unfinished\n",
        config.place.c_str(), counted(verdict.recordings, "recording").c_str(),
        counted(verdict.parts, "part").c_str(), static_cast<unsigned long long>(verdict.good),
        static_cast<unsigned long long>(verdict.without_hash), size_text(verdict.bytes).c_str(),
        static_cast<unsigned long long>(verdict.gaps.certain),
        static_cast<unsigned long long>(verdict.gaps.possible), verdict.unfinished.size());
}

} // namespace

int archive_verify(const ArchiveConfig& config, const ArchiveOutput& output)
{
    ArchiveVerdict verdict;
    const std::optional<Error> error = run_archive([&]() -> std::optional<Error> {
        verdict = verify_archive(config, [](const ArchiveVerdict&) { return !is_archive_ended(); });
        if (!verdict.problems.empty())
            return Error(Fault::storage, EBADMSG, "verify", config.place,
                         counted(verdict.problems.size(), "problem"));
        return {};
    });
    return tell_archive(
        {"verify", archive_verdict_json(config, verdict, !error), verdict.problems, error}, output,
        [&] {
            if (!error || !verdict.problems.empty())
                print_archive_verdict(config, verdict);
        });
}

} // namespace iio_stream::cli
