// SPDX-License-Identifier: MIT
#pragma once

#include "cli/command.hpp"
#include "iio_stream/pipeline.hpp"

#include <string>
#include <vector>

namespace iio_stream::cli {

/// The options shared by the streaming commands, as given.
struct StreamOptions {
    std::vector<std::string> words;
    std::string duration, samples, bytes, block_size, blocks, timeout, reconnect;
    std::string on_gap = "mark";
    std::string max_gaps, max_lost, min_rate;
    std::string json; ///< "" = none, "true" = to stdout, else a file
    std::string metrics_file, metrics_listen, events;
    bool progress = false, no_progress = false, quiet = false, verbose = false;

    /// `order`: which endpoints the command takes, as its usage line shows them.
    void add_to(CLI::App& app, const std::string& order);
    void add_loss_limits(CLI::App& app); ///< --max-gaps and --max-lost alone
    /// For these endpoints: the source and its sinks.
    PipelineConfig config(const std::vector<Uri>& uris) const;
    /// Applies --reconnect to those endpoints of all pipelines that are boards.
    void add_reconnect(std::vector<PipelineConfig>& pipelines) const;
    Thresholds thresholds() const;
    /// Throws if --json, --metrics-file or --events would write over a file that is streamed.
    void refuse_recordings(const std::vector<PipelineConfig>& pipelines) const;
    bool wants_json() const noexcept { return !json.empty() && json != "false"; }
};

} // namespace iio_stream::cli
