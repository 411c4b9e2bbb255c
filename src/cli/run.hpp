// SPDX-License-Identifier: MIT
#pragma once

#include "cli/output/json.hpp"
#include "cli/parsing/options.hpp"
#include "iio_stream/pipeline.hpp"

#include <string>
#include <vector>

namespace iio_stream::cli {

/// Runs the pipelines together. Shows progress, publishes metrics and handles signals as the
/// options specify. The summaries also contain errors that occur before the start.
std::vector<Summary> run(const std::string& command, std::vector<PipelineConfig> pipelines,
                         const StreamOptions& options);

/// Returns the summaries as the runs of one command (docs/schema/bench.schema.json).
Json runs_json(const std::string& command, const std::vector<Summary>& summaries);
/// Prints a result, which is JSON if --json was given, where that option says. By default it goes
/// to stdout, or to stderr if a stream of `summaries` wrote samples to stdout.
void print_result(const std::string& result, const std::vector<Summary>& summaries,
                  const StreamOptions& options);

/// Prints the summaries with print_result(), and returns the exit status.
int report(const std::string& command, const std::vector<Summary>& summaries,
           const StreamOptions& options, bool as_runs = false);

} // namespace iio_stream::cli
