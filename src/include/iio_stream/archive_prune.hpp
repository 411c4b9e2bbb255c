// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/archive.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace iio_stream {

/// What prune_archive() removes: parts that meet either condition, of which there has to be one.
struct PruneConfig {
    ArchiveConfig archive;
    /// Parts whose last sample is older than this; where their metadata know no time, that of the
    /// metadata file counts.
    std::optional<std::chrono::nanoseconds> older{};
    /// The oldest parts beyond this many bytes of samples.
    std::optional<std::uint64_t> keep_bytes{};
    bool dry_run = false; ///< nothing is removed, but reported
};

/// A part that was removed.
struct PrunedPart {
    std::string name; ///< below the place, without suffix
    std::uint64_t bytes = 0;
    std::int64_t end_ns =
        0; ///< when its last sample was taken, or the metadata written; UTC since 1970
};

/// What prune_archive() has done.
struct PruneReport {
    std::uint64_t parts = 0, bytes = 0; ///< that stay: finished, whole ones
    std::vector<PrunedPart> removed;    ///< oldest first
    std::uint64_t removed_bytes = 0;
    std::uint64_t unfinished = 0, damaged = 0; ///< parts that stay in any case
    std::vector<ArchiveProblem>
        problems; ///< parts that could not be removed, or what ended it while it removed
};

/// Removes the oldest parts of an archive, whole ones: the metadata first, so that what is listed
/// meanwhile is complete, then the samples. Parts that are unfinished or damaged stay.
///
///     prune_archive({.archive = {.place = "s3://roof/2026"}, .older = std::chrono::days(30)});
///
/// `go_on` is called a few times a second, on the calling thread; false ends it between two parts,
/// with what was removed until then in the report, or with an Error (EINTR) if it is still looking.
/// Blocks. Throws: as list_archive(); usage without a condition. Thread: any number at a time.
IIO_STREAM_API PruneReport prune_archive(const PruneConfig& config,
                                         const std::function<bool()>& go_on = {});

} // namespace iio_stream
