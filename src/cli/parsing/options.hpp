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

    /// `order`: the endpoints that the command takes, as its usage line shows them.
    void add_to(CLI::App& app, const std::string& order);
    void add_loss_limits(CLI::App& app); ///< --max-gaps and --max-lost alone
    /// The pipeline of these endpoints: the source, followed by its sinks. Throws a usage Error.
    PipelineConfig config(const std::vector<Uri>& uris) const;
    /// Applies --reconnect to the usb: endpoints of all pipelines. Throws a usage Error if there
    /// are none.
    void add_reconnect(std::vector<PipelineConfig>& pipelines) const;
    Thresholds thresholds() const;
    /// Throws a usage Error if --json, --metrics-file or --events names a file that is streamed, a
    /// recording, or the same file as another of these options. Throws a storage Error if the
    /// folder of --json does not exist.
    void refuse_recordings(const std::vector<PipelineConfig>& pipelines) const;
    bool wants_json() const noexcept { return !json.empty() && json != "false"; }
};

} // namespace iio_stream::cli
