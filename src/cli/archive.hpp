// SPDX-License-Identifier: MIT
#pragma once

#include "cli/json.hpp"
#include "iio_stream/archive_prune.hpp"
#include "iio_stream/archive_pull.hpp"
#include "iio_stream/error.hpp"

#include <string>

namespace iio_stream::cli {

/// What all verbs of `iio-stream archive` take.
struct ArchiveOutput {
    std::string json; ///< as for print_json(); "" or "false": text
    bool quiet = false;

    bool wants_json() const { return !json.empty() && json != "false"; }
};

/// From here on Ctrl-C and SIGTERM end the verb as soon as possible, and a second one the program.
void let_archive_be_ended();
bool is_archive_ended() noexcept;

/// The verbs; each returns the exit status.
int archive_push(const PushConfig& config, const ArchiveOutput& output);
int archive_list(const ArchiveConfig& config, const ArchiveOutput& output);
int archive_verify(const ArchiveConfig& config, const ArchiveOutput& output);
int archive_prune(const PruneConfig& config, const ArchiveOutput& output);
int archive_pull(const PullConfig& config, const ArchiveOutput& output);

/// Prints an object with "schema", "command" and "error" besides what is in `more`.
void print_archive_json(const std::string& verb, const Json& more, const std::optional<Error>& error,
                        const ArchiveOutput& output);

Json problems_json(const std::vector<ArchiveProblem>& problems);

/// "1 part", "2 parts".
std::string counted(std::uint64_t count, const std::string& one);

} // namespace iio_stream::cli
