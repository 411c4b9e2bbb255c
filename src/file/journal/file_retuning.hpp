// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/block.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace iio_stream::file {

/// A retuning by its place in the file: samples from `end` on have `settings`, those in between had
/// `between` throughout; their other settings are unknown.
struct Retuned {
    std::uint64_t begin = 0, end = 0;
    Settings settings, between;
};

/// The settings on which both agree.
Settings common(const Settings& a, const Settings& b);

/// The settings a file's samples were taken with.
struct Tunings {
    Settings first;             ///< of its first sample, unless a retuning begins there
    std::vector<Retuned> later; ///< in order, none within another
    bool changed = false;       ///< they differ from those at the start of the stream
    /// From this sample on the settings were not read again.
    std::optional<std::uint64_t> unread_from;

    const Settings& last() const noexcept { return later.empty() ? first : later.back().settings; }
    /// Adds the next one. `end` 0: all samples have its settings. `several`: there may have been
    /// others among its samples. Allocates nothing if there is room for detail::kMostRetunings.
    void add(std::uint64_t begin, std::uint64_t end, const Settings& settings, bool several);
};

} // namespace iio_stream::file
