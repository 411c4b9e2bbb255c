// SPDX-License-Identifier: MIT
#pragma once

#include "cli/options.hpp"
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

/// The summary for people, several lines.
std::string text_of(const Summary& summary);
/// 1536 → "1.50 KiB".
std::string human_bytes(double bytes);
/// 30720000 → "30.72 M".
std::string human_count(double count);
/// "1 part", "2 parts".
std::string counted(std::uint64_t count, const std::string& one);

} // namespace iio_stream::cli
