// SPDX-License-Identifier: MIT
#pragma once

#include "cli/parsing/options.hpp"
#include "iio_stream/session.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace iio_stream::cli {

/// Shows the progress line on a terminal and publishes the metrics while a session runs.
class Progress {
public:
    /// Throws an Error if the metrics file cannot be written or the metrics server cannot listen.
    Progress(const StreamOptions& options, Session& session, std::vector<PipelineConfig> limits);
    bool is_shown() const noexcept { return on_terminal_; }
    void show(Session& session);
    void finish(Session& session);

private:
    void publish_metrics(Session& session) const;
    std::string line(const Stats& stats, double seconds, std::uint64_t bytes) const;

    std::vector<PipelineConfig> limits_; ///< of the session's pipelines
    bool on_terminal_;
    std::string metrics_file_;
    std::unique_ptr<MetricsServer> metrics_server_;
    std::chrono::steady_clock::time_point last_shown_{}, last_metrics_{};
    std::vector<Stats> before_;
    bool shown_ = false;
};

/// The remaining time: "  12.3 s left" until the requested end, or "  12.3 s until full" if the
/// storage of a sink fills up before that; "" if neither is known.
std::string left_text(const PipelineConfig& limits, const Format& format, const Stats& stats,
                      const std::vector<std::uint64_t>& room);

/// Describes the mechanism, the memory and the copies of a hop: "generated, pages, 0 copies".
std::string copies_text(const Hop& hop);
/// A hop as one line: "sim: → block  generated, pages, 0 copies".
std::string route_line(const Hop& hop);

} // namespace iio_stream::cli
