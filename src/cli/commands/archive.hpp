// SPDX-License-Identifier: MIT
#pragma once

#include "cli/output/json.hpp"
#include "iio_stream/archive_pack.hpp"
#include "iio_stream/archive_prune.hpp"
#include "iio_stream/archive_pull.hpp"
#include "iio_stream/archive_verify.hpp"
#include "iio_stream/error.hpp"

#include <functional>
#include <string>
#include <vector>

namespace iio_stream::cli {

/// The output options that all verbs of `iio-stream archive` take.
struct ArchiveOutput {
    std::string json; ///< as for print_json(); "" or "false": text
    bool quiet = false;

    bool wants_json() const { return !json.empty() && json != "false"; }
};

/// Runs a verb and returns the Error that it throws or returns. Rethrows a usage Error. While the
/// verb runs, SIGINT, SIGTERM and SIGHUP make is_archive_ended() true, and a second signal ends the
/// program.
std::optional<Error> run_archive(const std::function<std::optional<Error>()>& verb);
bool is_archive_ended() noexcept;

/// The result of a verb.
struct ArchiveResult {
    std::string verb;
    Json report; ///< the JSON object without "schema", "command" and "error"
    std::vector<ArchiveProblem> problems;
    std::optional<Error> error;
};
/// Prints the result and returns the exit status. Calls `text` to print it if neither --json nor
/// --quiet is given.
int report_archive(const ArchiveResult& result, const ArchiveOutput& output,
                   const std::function<void()>& text);

/// The verbs; each returns the exit status.
int archive_push(const PushConfig& config, const ArchiveOutput& output);
int archive_list(const ArchiveConfig& config, bool indexed, const ArchiveOutput& output);
int archive_verify(const VerifyConfig& config, const ArchiveOutput& output);
int archive_prune(const PruneConfig& config, const ArchiveOutput& output);
int archive_pull(const PullConfig& config, const ArchiveOutput& output);
int archive_index(const ArchiveConfig& config, const ArchiveOutput& output);
int archive_pack(const PackConfig& config, const ArchiveOutput& output);

Json problems_json(const std::vector<ArchiveProblem>& problems);

std::string size_text(std::uint64_t bytes); ///< "1.91 MiB"

} // namespace iio_stream::cli
