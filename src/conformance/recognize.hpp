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

/// Recognizes the patterns that sim: and the simulator generate. Expects the first sample of the
/// pattern at the start of `samples`.
Recognized recognize(const Format& format, std::span<const std::byte> samples);

} // namespace iio_stream::conformance
