// SPDX-License-Identifier: MIT
// Streams of limited length, which most checks use.
#pragma once

#include "conformance/run.hpp"
#include "iio_stream/pipeline.hpp"
#include "iio_stream/stats.hpp"

#include <chrono>
#include <cstdint>
#include <string>

namespace iio_stream::conformance {

/// The size of a block of about `seconds` at the device's rate and at most `most` bytes. It holds
/// whole samples, and whole pages if the rate allows it.
std::size_t block_bytes(const Subject& subject, double seconds, std::size_t most = 256 * 1024);
/// The number of samples in about `seconds`, and in at most `most_bytes`.
std::uint64_t samples_of(const Subject& subject, double seconds, std::size_t most_bytes);

/// The configuration of a capture by `way`, with small blocks and short deadlines.
PipelineConfig capture_config(const Subject& subject, const Way& way);

/// Runs a stream to its end, or until the user stops the run. An error that ends the stream is in
/// the summary. Throws Error if the stream cannot be prepared.
Summary stream(Run& run, const PipelineConfig& config);

/// Human-readable numbers: "1.5 MS/s", "65.54 kB", "20 ms".
std::string rate_text(double samples_per_second);
std::string bytes_text(double bytes);
std::string seconds_text(double seconds);

/// The reason why a stream did not deliver exactly `samples`; empty if it did.
std::string why_not_complete(const Summary& summary, std::uint64_t samples);

} // namespace iio_stream::conformance
