// SPDX-License-Identifier: MIT
#include "cli/commands/archive.hpp"
#include "cli/output/print.hpp"
#include "cli/output/summary_text.hpp"

#include <cerrno>
#include <cstdio>

namespace iio_stream::cli {

namespace {

Json verified_json(const VerifyConfig& config, const ArchiveVerification& verification,
                   bool is_good)
{
    return {{"place", config.archive.place},
            {"ok", is_good},
            {"recordings", verification.recordings},
            {"parts", verification.parts},
            {"good", verification.good},
            {"good_in_store", verification.good_in_store},
            {"without_hash", verification.without_hash},
            {"bytes", verification.bytes},
            {"gaps", gaps_json(verification.gaps)},
            {"unfinished", verification.unfinished},
            {"problems", problems_json(verification.problems)}};
}

void print_verified(const VerifyConfig& config, const ArchiveVerification& verification)
{
    const std::string in_store =
        config.data ? std::to_string(verification.good_in_store) + " by the store's checksum, "
                    : "";
    print_line(stdout,
               "%s: %s in %s: %llu with a good hash, %s%llu without one; %s read; %llu certain and "
               "%llu possible losses; "
               "%zu unfinished",
               config.archive.place.c_str(), counted(verification.recordings, "recording").c_str(),
               counted(verification.parts, "part").c_str(),
               static_cast<unsigned long long>(verification.good), in_store.c_str(),
               static_cast<unsigned long long>(verification.without_hash),
               size_text(verification.bytes).c_str(),
               static_cast<unsigned long long>(verification.gaps.certain),
               static_cast<unsigned long long>(verification.gaps.possible),
               verification.unfinished.size());
}

} // namespace

int archive_verify(const VerifyConfig& config, const ArchiveOutput& output)
{
    ArchiveVerification verification;
    const std::optional<Error> error = run_archive([&]() -> std::optional<Error> {
        verification = verify_archive(config, [&](const ArchiveVerification& now) {
            verification = now;
            return !is_archive_ended();
        });
        if (!verification.problems.empty())
            return Error(Fault::storage, EBADMSG, "verify", config.archive.place,
                         counted(verification.problems.size(), "problem"));
        return {};
    });
    return report_archive(
        {"verify", verified_json(config, verification, !error), verification.problems, error},
        output, [&] {
            if (!error || !verification.problems.empty())
                print_verified(config, verification);
        });
}

} // namespace iio_stream::cli
