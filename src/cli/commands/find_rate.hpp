// SPDX-License-Identifier: MIT
#pragma once

#include "cli/parsing/options.hpp"

#include <string>
#include <vector>

namespace iio_stream::cli {

/// Searches for the highest sample rate at which no sample of the source is lost on its way to the
/// sinks, and prints the answer as one line or as JSON (docs/schema/bench.schema.json).
///
/// `range` is "FROM..TO", or "true" for a search that begins at the source's present rate. Each
/// step runs the stream for a tenth of options.duration with another rate=. The rate is doubled
/// until samples are lost or the source refuses it, and then bisected to 5 %. The best rate must
/// also pass a run of the whole duration. The source keeps that rate.
/// Returns the exit status: 0 if there is such a rate, 4 if samples are lost at every rate.
int find_rate(const std::string& range, const std::vector<Uri>& uris, StreamOptions options);

} // namespace iio_stream::cli
