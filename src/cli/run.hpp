// SPDX-License-Identifier: MIT
#pragma once

#include "cli/parsing/options.hpp"
#include "iio_stream/pipeline.hpp"

#include <string>
#include <vector>

namespace iio_stream::cli {

/// Runs pipelines together, with progress, metrics and signals as the options say; errors before
/// the start are in the summaries as well.
std::vector<Summary> run(const std::string& command, std::vector<PipelineConfig> pipelines,
                         const StreamOptions& options);

/// Prints summaries as the options say (JSON or text, to stdout unless samples go there) and
/// returns the exit status.
int report(const std::string& command, const std::vector<Summary>& summaries,
           const StreamOptions& options, bool as_runs = false);

} // namespace iio_stream::cli
