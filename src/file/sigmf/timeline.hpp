// SPDX-License-Identifier: MIT
#pragma once

#include "file/sigmf/datatype.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace iio_stream::file {

/// The places and times of a recording's captures. Thread: any; the object does not change.
class Timeline {
public:
    Timeline() = default;
    /// `metadata` are the result of by_position(). A capture without core:global_index continues
    /// the index of the capture before it.
    explicit Timeline(const Json& metadata);

    /// Index of a sample in the original stream, including the samples that were lost.
    std::uint64_t index_of(std::uint64_t position) const noexcept;
    /// When the sample was taken, in nanoseconds since 1970 UTC. This is core:datetime of the last
    /// capture that has one, plus the duration of the samples since then, including lost ones.
    /// nullopt if no capture has a time, if the rate is unknown, or if the rate changes in between.
    std::optional<std::int64_t> utc_ns_of(std::uint64_t position) const noexcept;
    /// When the lost sample with that index was taken. It is missing right before `position`.
    std::optional<std::int64_t> utc_ns_of_lost(std::uint64_t index,
                                               std::uint64_t position) const noexcept;
    /// When the sample before `position` was complete, which is one sample period after it was
    /// taken.
    std::optional<std::int64_t> end_ns_of(std::uint64_t position) const noexcept;

private:
    struct Entry {
        std::uint64_t position = 0, index = 0;
        std::optional<std::int64_t> utc_ns;
        double rate = 0;       ///< samples per second; 0 = unknown
        std::size_t dated = 0; ///< number of the last entry with a time, up to this one
        bool is_dated = false; ///< there is such an entry, and the rate has not changed since
    };
    const Entry& at(std::uint64_t position) const noexcept;

    std::vector<Entry> entries_; ///< sorted by position, the first at 0
};

/// Removes core:offset from metadata that inspect() has repaired: places then count from the file's
/// first sample. The places in the original stream are kept as core:global_index.
Json by_position(Json metadata);

} // namespace iio_stream::file
