// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/stats.hpp"

#include <string>
#include <vector>

namespace iio_stream::detail {

/// The metrics as OpenMetrics 1.0 text.
std::string metrics_text(const std::vector<LabelledStats>& pipelines);

} // namespace iio_stream::detail
