// SPDX-License-Identifier: MIT
#pragma once

#include "conformance/run.hpp"
#include "iio_stream/stats.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace iio_stream::conformance {

/// A stream whose losses are counted in two ways: by the reports, and by a pattern if the data has
/// one.
struct LossRun {
    std::uint64_t samples = 0;
    GapTotals gaps;                     ///< as reported
    std::vector<Evidence> used;         ///< of the reported losses
    std::vector<Evidence> available;    ///< from which a loss can be inferred
    std::uint64_t first_offset = 0;     ///< samples before the first certain loss
    std::optional<std::uint64_t> truth; ///< samples missing in the pattern; nullopt: no pattern
    double stalled = 0;                 ///< seconds without a block to fill
};

/// Takes blocks as they arrive, for `seconds`.
LossRun run_steadily(Run& run, const Subject& subject, const Way& way, double seconds);
/// Takes some blocks, holds all blocks for `seconds` so that the device has none, and continues.
LossRun run_with_stall(Run& run, const Subject& subject, const Way& way, double seconds);

} // namespace iio_stream::conformance
