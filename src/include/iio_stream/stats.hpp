// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/api.hpp"
#include "iio_stream/endpoint.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace iio_stream {

/// What went to one sink. delivered + dropped + the source's lost = produced; with zero-fill the
/// lost ones are delivered, as zeros.
struct SinkStats {
    std::uint64_t delivered_samples = 0;
    std::uint64_t dropped_samples = 0;   ///< on-full=drop and no room
    std::uint64_t bytes = 0;
    std::uint64_t lag_high_water = 0;    ///< most blocks it held at one time
    std::optional<PlaybackStats> playback = std::nullopt; ///< of a device that plays them
};

struct GapTotals {
    /// Losses. Certain ones that may have been in the same place are counted as one; each report of
    /// a possible one counts.
    std::uint64_t certain = 0, possible = 0;
    std::uint64_t lost_min = 0, lost_max = 0; ///< samples; lost_max kUnknown where unbounded
};

/// The counters of one pipeline; a snapshot while it runs, final once it has stopped.
struct Stats {
    std::uint64_t samples = 0, bytes = 0, blocks = 0; ///< taken from the source, all of them good
    GapTotals gaps;
    std::vector<SinkStats> sinks;
    /// From the source's start until the last sample had reached its sinks; their closing comes after.
    double seconds = 0;
    double source_seconds = 0; ///< until the source had the last sample
};

/// Percentiles of the time from a block's last sample to its being done with by a sink.
struct Latency {
    double p50_us = 0, p99_us = 0, p999_us = 0, max_us = 0;
};

struct CpuTime {
    double user_seconds = 0, system_seconds = 0;
};

/// Everything that is known of a pipeline after its end.
struct IIO_STREAM_API Summary {
    std::string command = "stream";
    std::string started;            ///< UTC, ISO 8601
    std::string source;
    std::vector<std::string> sinks; ///< URIs, in the order of stats.sinks
    std::vector<std::string> sink_reports; ///< JSON objects or ""
    std::vector<Hop> route;
    Format format;
    std::size_t block_size = 0, block_count = 0;
    Stats stats;
    SourceStats source_stats;
    std::vector<Retuning> retunings; ///< positions as a Gap's offsets; an `end` after the last sample: unknown
    CpuTime cpu;
    Latency latency;
    double closing_seconds = 0;     ///< after stats.seconds, until all ends were closed
    std::string ended;              ///< duration, samples, bytes, eof, signal, gap, error
    std::optional<Error> error;

    std::uint64_t produced_samples() const noexcept;
    unsigned copies() const noexcept;
    /// The command's exit status, in the order 2, 3, 5, 4, 1.
    int exit_status() const noexcept;
    /// One JSON object, as docs/schema/summary.schema.json says.
    std::string json() const;
};

/// What makes a stream that went well a failure all the same.
struct IIO_STREAM_API Thresholds {
    std::optional<std::uint64_t> max_gaps = std::nullopt; ///< certain and possible ones
    std::optional<std::uint64_t> max_lost = std::nullopt; ///< samples that may be, or were dropped
    /// Samples per second of the source's time; what it had of the next block counts.
    std::optional<double> min_rate = std::nullopt;

    /// The Error, ENODATA, of one that is passed.
    std::optional<Error> check(const Stats& stats) const;
};

} // namespace iio_stream
