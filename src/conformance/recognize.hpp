// SPDX-License-Identifier: MIT
#pragma once

#include "core/format/checker.hpp"
#include "iio_stream/format.hpp"

#include <cstddef>
#include <span>

namespace iio_stream::conformance {

/// A test pattern that most samples of a stream follow.
struct Recognized {
    const char* name = nullptr; ///< nullptr: none
    detail::Findings findings;
};

/// Looks for the patterns that sim: and the simulator have, from their first sample on.
Recognized recognize(const Format& format, std::span<const std::byte> samples);

} // namespace iio_stream::conformance
