// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/api.hpp"
#include "iio_stream/endpoint.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace iio_stream {

// Every sample is accounted for. For each sink of a stream
//
//     produced = delivered + dropped + lost
//
// where the source counts what was lost before it came here, and the sink what it had no room for.
// All numbers are of samples (one value of every channel), never of values, unless the name says
// bytes or blocks.

/// What went to one sink. With on-gap=zero-fill the zeros in place of lost samples count as
/// delivered.
struct SinkStats {
    std::uint64_t delivered_samples = 0; ///< reached the sink's file, device or peer
    std::uint64_t dropped_samples = 0;   ///< on-full=drop, and the sink had no room
    std::uint64_t bytes = 0;             ///< of the delivered samples
    std::uint64_t lag_high_water = 0;    ///< most blocks it held at one time
    std::optional<PlaybackStats> playback =
        std::nullopt; ///< if the sink is a device that plays samples
    std::optional<UploadStats> uploads =
        std::nullopt; ///< if the sink uploads its recording (archive=)
};

/// The losses of a source, added up.
struct GapTotals {
    /// Number of losses. Certain ones that may be the same loss count once; every report of a
    /// possible loss counts.
    std::uint64_t certain = 0, possible = 0;
    /// Samples lost: at least, and at most. lost_max is kUnknown if there is no upper bound.
    std::uint64_t lost_min = 0, lost_max = 0;
};

/// The counters of one pipeline: a snapshot while it runs, final once it has stopped.
///
///     const Stats now = reader.stats();
///     std::cout << now.samples << " samples, " << now.gaps.certain << " losses\n";
struct IIO_STREAM_API Stats {
    std::uint64_t samples = 0, bytes = 0,
                  blocks = 0;     ///< taken from the source; failed blocks do not count
    GapTotals gaps;               ///< the source's losses
    std::vector<SinkStats> sinks; ///< in the order they were given
    /// From the start of the source until its last sample had reached the sinks; closing them comes
    /// after.
    double seconds = 0;
    double source_seconds = 0; ///< from the start of the source to its last sample

    /// Times the queue of a device that plays samples ran empty, over all sinks.
    std::uint64_t underflows() const noexcept;
};

/// The counters of one pipeline for a metrics file.
struct LabelledStats {
    std::string labels; ///< as OpenMetrics writes them: pipeline="0"
    Stats stats;
};
/// Writes the counters of all pipelines as OpenMetrics 1.0 text
/// (https://prometheus.io/docs/specs/om/open_metrics_spec/) and replaces the file as a whole: a
/// collector never reads half a file. Throws Error (Fault::storage).
IIO_STREAM_API void write_metrics(const std::string& file,
                                  const std::vector<LabelledStats>& pipelines);

/// Answers HTTP at /metrics with the counters as write_metrics() writes them, on a thread of its
/// own: for Prometheus and its kind. It encrypts nothing and asks for no password.
///
///     MetricsServer server("localhost:9101");
///     server.publish({{"radio=\"roof\"", reader.stats()}}); // each second, say
class IIO_STREAM_API MetricsServer {
public:
    /// At "HOST:PORT", ":PORT" (this machine only) or "*:PORT" (all its addresses); the usual port
    /// is 9101. Throws Error (Fault::usage for no such address, Fault::device for one that is
    /// taken).
    explicit MetricsServer(const std::string& listen);
    ~MetricsServer();
    MetricsServer(const MetricsServer&) = delete;
    MetricsServer& operator=(const MetricsServer&) = delete;

    std::vector<std::string> addresses() const; ///< "127.0.0.1:9101"
    /// What it answers from now on. Any thread.
    void publish(const std::vector<LabelledStats>& pipelines);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// Percentiles, in microseconds, of the time from a block's last sample until a sink was done with
/// the block.
struct Latency {
    double p50_us = 0, p99_us = 0, p999_us = 0, max_us = 0;
};

/// CPU time of the process while the pipeline ran.
struct CpuTime {
    double user_seconds = 0, system_seconds = 0;
};

/// Everything known about a pipeline after it has ended; what Reader::close() and Writer::close()
/// return.
///
///     const Summary summary = reader.close();
///     if (summary.error)
///         std::cerr << summary.error->what() << '\n';
struct IIO_STREAM_API Summary {
    std::string command = "stream";        ///< of the command line; "stream" in a program
    std::string started;                   ///< UTC, ISO 8601; empty if it never started
    std::string source;                    ///< URI
    std::vector<std::string> sinks;        ///< URIs, in the order of stats.sinks
    std::vector<std::string> sink_reports; ///< Sink::report() of each: a JSON object or ""
    std::vector<Hop> route; ///< how samples got to each sink, and the copies on the way
    Format format;          ///< of the source's samples
    std::size_t block_size = 0, block_count = 0; ///< bytes of a block; blocks in the pool
    Stats stats;                                 ///< the final counters
    SourceStats source_stats; ///< blocks that failed, and how losses were detected
    std::vector<Retuning>
        retunings;   ///< positions as a Gap's offsets; an `end` after the last sample: unknown
    CpuTime cpu;     ///< of the whole process
    Latency latency; ///< over all blocks and sinks
    double closing_seconds = 0; ///< after stats.seconds, until every endpoint was closed
    /// Why: duration, samples, bytes, eof, signal (the user or the program stopped it), stopped
    /// (another stream of the session failed), gap, error.
    std::string ended;
    std::optional<Error> error; ///< what ended it; empty if it ended as intended

    /// Samples of the source: those it delivered, and those certainly lost.
    std::uint64_t produced_samples() const noexcept;
    /// CPU copies of each sample, over all hops of the route.
    unsigned copies() const noexcept;
};

/// All of it as one JSON object, described by docs/schema/summary.schema.json.
IIO_STREAM_API std::string to_json(const Summary& summary);

/// Limits that make a stream fail even if it ended without an error.
///
///     if (auto error = Thresholds{.max_lost = 0}.check(summary.stats))
///         throw *error;
struct IIO_STREAM_API Thresholds {
    std::optional<std::uint64_t> max_gaps =
        std::nullopt; ///< certain and possible losses, and underflows
    std::optional<std::uint64_t> max_lost =
        std::nullopt; ///< samples: the most a sink may miss, lost or dropped
    /// Samples per second, over Stats::source_seconds, give or take a block.
    std::optional<double> min_rate = std::nullopt;

    /// The Error (Fault::samples, ENODATA) for a limit that is exceeded; empty if none is.
    std::optional<Error> check(const Stats& stats) const;
};

} // namespace iio_stream
