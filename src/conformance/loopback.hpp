// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/format.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace iio_stream::conformance {

// The counter that a DAC of the AD936x family plays for its digital loopback. It is in the upper
// twelve bits of sixteen and differs between channels. The ADC receives the twelve bits.

inline constexpr unsigned kLoopbackBits = 12;
inline constexpr std::size_t kLoopbackPeriod = std::size_t{1} << kLoopbackBits; ///< samples

/// Fills whole samples of a DAC's format with the counter, from its start.
void fill_loopback(const Format& format, std::span<std::byte> samples);

/// Describes the first sample of an ADC that does not match the counter; empty if all do. The
/// counter can start at any value, but the channels must agree with one another.
std::string loopback_error(const Format& format, std::span<const std::byte> samples);

} // namespace iio_stream::conformance
