// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

// How late the interrupt handler sets the time at which a block ended. The kernel promises nothing,
// so each of these is a judgement. They differ in what a wrong one costs.
namespace iio_stream::detail {

/// For the width of a gap: it is added to the time in which samples may have been lost. Every gap
/// becomes longer by it, so it is what a loaded machine usually needs and no more.
inline constexpr std::int64_t kUsualInterruptLatency = 20'000'000;

/// For the end of a block as computed from the rate: the interrupt's time is moved back to it by
/// this much at most. A real rate below the stated one uses it up with every block, and then makes
/// the queue of a device with little time in its blocks seem to run empty. So it is shorter than
/// the longest latency, and longer than the usual one, which the width of a gap covers.
inline constexpr std::int64_t kCorrectedInterruptLatency = 50'000'000;

/// For bounds that must hold: how often a counter wrapped, and which samples have new settings. A
/// handler later than that makes them wrong, and a long one costs only a wide interval.
inline constexpr std::int64_t kLongestInterruptLatency = 100'000'000;

} // namespace iio_stream::detail
