// SPDX-License-Identifier: MIT
#pragma once

#include "conformance/run.hpp"
#include "iio_stream/stats.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace iio_stream::conformance {

/// A stream whose losses are counted in two ways: as reported, and by a pattern in the data if
/// there is one.
struct LossRun {
    std::uint64_t samples = 0;
    GapTotals gaps;                  ///< as reported
    std::vector<Evidence> used;      ///< of the reported losses
    std::vector<Evidence> available; ///< by which a loss would have been reported
    std::uint64_t first_offset = 0;  ///< samples before the first certain loss
    std::optional<std::uint64_t>
        truth;          ///< samples that the pattern lacks; empty: the data has none
    double stalled = 0; ///< seconds without a block to fill
};

/// Takes blocks for that time as they come.
LossRun run_steadily(Run& run, const Subject& subject, const Way& way, double seconds);
/// Takes some blocks, keeps all of them for that time so that the device has none, and goes on.
LossRun run_with_stall(Run& run, const Subject& subject, const Way& way, double seconds);

} // namespace iio_stream::conformance
