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
// The source counts the samples that were lost before they arrived here, and the sink counts the
// samples that it dropped for lack of room. All numbers count samples (one value of every channel),
// never values, unless the name contains bytes or blocks.

/// The counters of one sink. With on-gap=zero-fill, the zeros that replace lost samples count as
/// delivered.
struct SinkStats {
    std::uint64_t delivered_samples = 0; ///< samples that reached the sink's file, device or peer
    std::uint64_t dropped_samples = 0;   ///< samples dropped because the sink had no room
                                         ///< (on-full=drop)
    std::uint64_t bytes = 0;             ///< bytes of the delivered samples
    std::uint64_t lag_high_water = 0;    ///< largest number of blocks that the sink held at one
                                         ///< time
    std::optional<PlaybackStats> playback =
        std::nullopt; ///< set if the sink is a device that plays samples
    std::optional<UploadStats> uploads =
        std::nullopt; ///< set if the sink uploads its recording (archive=)
};

/// The sum of the losses of a source.
struct GapTotals {
    /// Number of losses. Reports of certain losses that might be one and the same loss count once.
    /// Every report of a possible loss counts.
    std::uint64_t certain = 0, possible = 0;
    /// Minimum and maximum number of lost samples. lost_max is kUnknown if there is no upper bound.
    std::uint64_t lost_min = 0, lost_max = 0;
};

/// The counters of one pipeline: a snapshot while it runs, final once it has stopped.
///
///     const Stats now = reader.stats();
///     std::cout << now.samples << " samples, " << now.gaps.certain << " losses\n";
struct IIO_STREAM_API Stats {
    std::uint64_t samples = 0, bytes = 0,
                  blocks = 0;     ///< totals taken from the source; failed blocks do not count
    GapTotals gaps;               ///< the source's losses
    std::vector<SinkStats> sinks; ///< in the order they were given
    /// Time from the start of the source until its last sample reached the sinks, without the time
    /// to close the sinks.
    double seconds = 0;
    double source_seconds = 0; ///< time from the start of the source to its last sample

    /// Number of times that the queue of a device that plays samples ran empty, over all sinks.
    std::uint64_t underflows() const noexcept;
};

/// The counters of one pipeline for a metrics file.
struct LabelledStats {
    std::string labels; ///< in OpenMetrics syntax: pipeline="0"
    Stats stats;
};
/// Writes the counters of all pipelines as OpenMetrics 1.0 text
/// (https://prometheus.io/docs/specs/om/open_metrics_spec/) and replaces the file atomically, so a
/// collector never reads a partial file. Throws Error (Fault::storage).
IIO_STREAM_API void write_metrics(const std::string& file,
                                  const std::vector<LabelledStats>& pipelines);

/// An HTTP server for Prometheus and similar collectors, which runs on its own thread. It serves
/// the counters at /metrics in the format of write_metrics(), without encryption or authentication.
///
///     MetricsServer server("localhost:9101");
///     server.publish({{"radio=\"roof\"", reader.stats()}}); // for example once a second
class IIO_STREAM_API MetricsServer {
public:
    /// Listens on "HOST:PORT", ":PORT" (this machine only) or "*:PORT" (all of its addresses); the
    /// usual port is 9101. Throws Error: Fault::usage if the address is not valid, Fault::device if
    /// it is in use.
    explicit MetricsServer(const std::string& listen);
    ~MetricsServer();
    MetricsServer(const MetricsServer&) = delete;
    MetricsServer& operator=(const MetricsServer&) = delete;

    std::vector<std::string> addresses() const; ///< "127.0.0.1:9101"
    /// Sets the counters that it serves from now on. Any thread.
    void publish(const std::vector<LabelledStats>& pipelines);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// Percentiles, in microseconds, of the time from a block's last sample until a sink has finished
/// with the block.
struct Latency {
    double p50_us = 0, p99_us = 0, p999_us = 0, max_us = 0;
};

/// CPU time of the process while the pipeline ran.
struct CpuTime {
    double user_seconds = 0, system_seconds = 0;
};

/// CPU time of the threads of one name while the pipeline ran.
struct ThreadTime {
    std::string name;       ///< as `top -H` shows it: "iios-source", "iios-file"
    double cpu_seconds = 0; ///< user and system time
};

/// All results of a pipeline after it has ended. Reader::close() and Writer::close() return it.
///
///     const Summary summary = reader.close();
///     if (summary.error)
///         std::cerr << summary.error->what() << '\n';
struct IIO_STREAM_API Summary {
    std::string command = "stream";        ///< command of the command line; "stream" in a program
    std::string started;                   ///< UTC, ISO 8601; empty if it never started
    std::string source;                    ///< URI
    std::vector<std::string> sinks;        ///< URIs, in the order of stats.sinks
    std::vector<std::string> sink_reports; ///< Sink::report() of each: a JSON object or ""
    bool live = false; ///< Source::live(): the samples arrive at the source's own pace
    /// The settings that the source's radio had at the start, read back from it; empty if the
    /// source is not a radio.
    Tuning tuning;
    /// The same for each sink. It can be shorter than `sinks` if the stream never started.
    std::vector<Tuning> sink_tunings;
    std::vector<Hop> route; ///< how samples got to each sink, with the copies on each hop
    Format format;          ///< format of the source's samples
    std::size_t block_size = 0, block_count = 0; ///< bytes of a block; blocks in the pool
    Stats stats;                                 ///< the final counters
    SourceStats source_stats;                    ///< failed blocks, and how losses were detected
    std::vector<Retuning> retunings; ///< positions count samples as a Gap's offsets do; an `end`
                                     ///< after the last sample means unknown
    CpuTime cpu;                     ///< CPU time of the whole process
    /// CPU time of each of the library's threads, over all streams of the process. The rest of
    /// `cpu` is that of the program's own threads.
    std::vector<ThreadTime> threads;
    Latency latency;            ///< latency over all blocks and sinks
    double closing_seconds = 0; ///< time from the end of stats.seconds until every endpoint was
                                ///< closed
    /// Why the stream ended: duration, samples, bytes, eof, signal (the user or the program stopped
    /// it), stopped (another stream of the session failed), gap, error.
    std::string ended;
    std::optional<Error> error; ///< the error that ended it; empty if it ended as intended

    /// Number of samples of the source: the delivered samples plus the certainly lost ones.
    std::uint64_t produced_samples() const noexcept;
    /// Number of CPU copies of each sample, over all hops of the route.
    unsigned copies() const noexcept;
};

/// Returns the summary as one JSON object, described by docs/schema/summary.schema.json.
IIO_STREAM_API std::string to_json(const Summary& summary);

/// Limits that make a stream fail even if it ended without an error.
///
///     if (auto error = Thresholds{.max_lost = 0}.check(summary.stats))
///         throw *error;
struct IIO_STREAM_API Thresholds {
    std::optional<std::uint64_t> max_gaps =
        std::nullopt; ///< maximum number of certain and possible losses and of underflows
    std::optional<std::uint64_t> max_lost =
        std::nullopt; ///< maximum number of samples that a sink may miss, lost or dropped
    /// Minimum samples per second over Stats::source_seconds, with a tolerance of one block.
    std::optional<double> min_rate = std::nullopt;

    /// Returns the Error (Fault::samples, ENODATA) for a limit that is exceeded; empty if none is.
    std::optional<Error> check(const Stats& stats) const;
};

} // namespace iio_stream
