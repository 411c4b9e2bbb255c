// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/block.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace iio_stream::file {

/// A retuning, with its place in the file. Samples from `end` on have `settings`. The samples from
/// `begin` to `end` have the values in `between` throughout; their other settings are unknown.
struct Retuned {
    std::uint64_t begin = 0, end = 0;
    Settings settings, between;
};

/// The settings that are equal in `a` and `b`; the others are empty.
Settings common(const Settings& a, const Settings& b);

/// The settings with which the samples of a file were taken.
struct Tunings {
    Settings first;             ///< settings of the first sample, unless a retuning begins there
    std::vector<Retuned> later; ///< in order, without overlaps
    bool changed = false;       ///< some settings differ from those at the start of the stream
    /// First sample from which the settings were not read again.
    std::optional<std::uint64_t> unread_from;

    const Settings& last() const noexcept { return later.empty() ? first : later.back().settings; }
    /// Adds the next retuning. If `end` is 0, its settings apply to all samples. `several`: more
    /// than one retuning may have happened between `begin` and `end`. Allocates nothing if `later`
    /// has room for detail::kMostRetunings.
    void add(std::uint64_t begin, std::uint64_t end, const Settings& settings, bool several);
};

} // namespace iio_stream::file
