// SPDX-License-Identifier: MIT
#pragma once

#include "cli/command.hpp"
#include "iio_stream/pipeline.hpp"

#include <optional>
#include <string>
#include <vector>

namespace iio_stream::cli {

/// The options that the streaming commands have in common, as given.
struct StreamOptions {
    std::vector<std::string> words;
    std::string duration, samples, bytes, block_size, blocks, timeout;
    std::string on_gap = "mark";
    std::string max_gaps, max_lost, min_rate;
    std::string json;        ///< "" = none, "true" = to stdout, else a file
    std::string metrics_file;
    bool progress = false, no_progress = false, quiet = false, verbose = false;

    void add_to(CLI::App& app);
    /// All but source and sinks.
    PipelineConfig config() const;
    bool wants_json() const noexcept { return !json.empty() && json != "false"; }
};

/// What makes a stream that went well a failure all the same: exit status 4.
struct Thresholds {
    std::optional<std::uint64_t> max_gaps, max_lost;
    std::optional<double> min_rate; ///< samples per second

    static Thresholds from(const StreamOptions& options);
    /// Puts an Error into the summary where one is passed.
    void apply(Summary& summary) const;
};

} // namespace iio_stream::cli
