// SPDX-License-Identifier: MIT
#pragma once

#include "cli/parsing/options.hpp"
#include "iio_stream/pipeline.hpp"

#include <string>
#include <vector>

namespace iio_stream::cli {

/// Runs the pipelines together. Shows progress, publishes metrics and handles signals as the
/// options specify. The summaries also contain errors that occur before the start.
std::vector<Summary> run(const std::string& command, std::vector<PipelineConfig> pipelines,
                         const StreamOptions& options);

/// Prints the summaries as text or JSON, as the options specify, and returns the exit status. They
/// go to stdout, or to stderr if samples go to stdout.
int report(const std::string& command, const std::vector<Summary>& summaries,
           const StreamOptions& options, bool as_runs = false);

} // namespace iio_stream::cli
