// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

// Bounds on how late the interrupt handler records the time at which a block ended. The kernel
// guarantees nothing, so each of these values is a judgement. They differ in the cost of a wrong
// value.
namespace iio_stream::detail {

/// This bound widens gaps: it is added to the time in which samples may have been lost. It makes
/// every gap longer, so it is only as long as a loaded machine usually needs.
inline constexpr std::int64_t kUsualInterruptLatency = 20'000'000;

/// This bound limits the correction of the end of a block. The time of the interrupt is moved back
/// to the end that is computed from the rate, but by at most this much. If the real rate is below
/// the stated rate, every block uses up this correction, and the queue of a device with short
/// blocks then seems to run empty. So this value is shorter than the longest latency. It is longer
/// than the usual latency, which the width of a gap already covers.
inline constexpr std::int64_t kCorrectedInterruptLatency = 50'000'000;

/// Results that must hold are computed from this bound: how often a counter wrapped, and which
/// samples have new settings. A handler that is later than this makes the results wrong, while a
/// large value only costs a wide interval.
inline constexpr std::int64_t kLongestInterruptLatency = 100'000'000;

} // namespace iio_stream::detail
