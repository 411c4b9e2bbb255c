// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/block.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace iio_stream::file {

/// A retuning where it lies in the file: samples from `end` on have `settings`, those between had
/// `between` throughout; the rest of theirs is unknown.
struct Retuned {
    std::uint64_t begin = 0, end = 0;
    Settings settings, between;
};

/// What both say.
Settings common(const Settings& a, const Settings& b);

/// The settings that a file's samples were taken with.
struct Tunings {
    Settings first;             ///< of its first sample, unless a retuning begins there
    std::vector<Retuned> later; ///< in their order, none within another
    bool changed = false;       ///< they are not those that the stream began with
    /// From that sample on they were not read again.
    std::optional<std::uint64_t> unvouched;

    const Settings& last() const noexcept { return later.empty() ? first : later.back().settings; }
    /// The next one. `end` 0: all samples have its settings. `several`: there may have been others
    /// in its samples. Into room for detail::kMostRetunings, nothing is allocated.
    void add(std::uint64_t begin, std::uint64_t end, const Settings& settings, bool several);
};

} // namespace iio_stream::file
