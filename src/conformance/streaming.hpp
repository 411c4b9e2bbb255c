// SPDX-License-Identifier: MIT
// Streams of limited length, as most checks need them.
#pragma once

#include "conformance/run.hpp"
#include "iio_stream/pipeline.hpp"
#include "iio_stream/stats.hpp"

#include <chrono>
#include <cstdint>
#include <string>

namespace iio_stream::conformance {

/// The size of a block, of about `seconds` at the device's rate and of at most `most` bytes: whole
/// pages and whole samples where the rate allows it.
std::size_t block_bytes(const Subject& subject, double seconds, std::size_t most = 256 * 1024);
/// About that many seconds of samples, and at most that many bytes.
std::uint64_t samples_of(const Subject& subject, double seconds, std::size_t most_bytes);

/// A stream from an input by that way: small blocks, and deadlines that a check can wait for.
PipelineConfig capture_config(const Subject& subject, const Way& way);

/// Runs it to its end, or until the user stops the run. The error that ended it is in the summary;
/// throws the Error of a stream that cannot be prepared.
Summary stream(Run& run, const PipelineConfig& config);

/// "1.5 MS/s", "64 Ki": numbers for people.
std::string rate_text(double samples_per_second);
std::string bytes_text(double bytes);
std::string seconds_text(double seconds);

/// What is wrong with a stream that was to deliver `samples`; empty if nothing is.
std::string why_not_complete(const Summary& summary, std::uint64_t samples);

} // namespace iio_stream::conformance
