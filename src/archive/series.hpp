// SPDX-License-Identifier: MIT
#pragma once

#include "archive/part.hpp"
#include "iio_stream/archive.hpp"

#include <vector>

namespace iio_stream::archive {

/// A recording with its parts in order.
struct Series {
    std::string name; ///< of its files, without number and suffix
    std::vector<Part> parts;
    GapTotals gaps;
    std::vector<ArchiveProblem>
        missing; ///< missing samples between parts, and in them, that are not recorded as lost

    std::uint64_t begin() const noexcept { return parts.front().index(); }
    std::uint64_t end() const noexcept { return parts.back().end(); }
    ArchivedRecording summary() const;
};

/// Computes when the samples of a recording were taken, as far as its metadata state it.
class SampleTimes {
public:
    explicit SampleTimes(const Series& series);
    std::optional<std::int64_t> utc_ns(std::uint64_t index) const noexcept;

private:
    std::vector<Capture> dated_;
};

/// Groups parts into recordings, sorted by name. A part that does not continue the previous one is
/// left out and added to `damaged`.
std::vector<Series> series_of(std::vector<Part> parts, std::vector<ArchiveProblem>& damaged);

} // namespace iio_stream::archive
