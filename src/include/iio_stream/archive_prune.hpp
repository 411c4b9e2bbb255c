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

/// Selects the parts that prune_archive() removes: those that meet either condition. At least one
/// condition is required.
struct PruneConfig {
    ArchiveConfig archive;
    /// Remove parts whose last sample is older than this. If the metadata contain no time, the
    /// modification time of the metadata file counts.
    std::optional<std::chrono::nanoseconds> older{};
    /// Remove the oldest parts until at most this many bytes of samples remain.
    std::optional<std::uint64_t> keep_bytes{};
    bool dry_run = false; ///< report what would be removed, but remove nothing
};

/// A part that was removed.
struct PrunedPart {
    std::string name; ///< name relative to ArchiveConfig::place, without suffix
    std::uint64_t bytes = 0;
    std::int64_t end_ns =
        0; ///< time of its last sample, or of its metadata file; nanoseconds since 1970 UTC
};

/// The result of prune_archive().
struct PruneReport {
    std::uint64_t parts = 0, bytes = 0; ///< finished, undamaged parts that stay, and the bytes of
                                        ///< their samples
    std::vector<PrunedPart> removed;    ///< oldest first
    std::uint64_t removed_bytes = 0;
    std::uint64_t unfinished = 0, damaged = 0; ///< parts that are never removed
    std::vector<ArchiveProblem> problems; ///< parts that could not be removed, or the error that
                                          ///< ended the call while it was removing
};

/// Removes the oldest parts of an archive. Only whole parts are removed: unfinished and damaged
/// parts stay. The metadata of a part are removed before its samples, so that every part that a
/// concurrent listing shows is complete.
///
///     prune_archive({.archive = {.place = "s3://roof/2026"}, .older = std::chrono::days(30)});
///
/// `go_on` is called a few times a second, on the calling thread. If it returns false, the call
/// ends between two parts and reports what it has removed; if it is still reading the archive, it
/// throws an Error (EINTR). The call blocks.
/// Throws: Error as list_archive() does, and a usage Error if no condition is given.
/// Thread: any number of calls can run at the same time.
IIO_STREAM_API PruneReport prune_archive(const PruneConfig& config,
                                         const std::function<bool()>& go_on = {});

} // namespace iio_stream
