// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/archive.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace iio_stream {

/// What pull_archive() fetches, and where to.
struct PullConfig {
    ArchiveConfig archive;
    std::string folder; ///< is made if it does not exist
    /// Parts with samples that were taken from `from_ns` on and before `to_ns`, UTC since 1970.
    /// With either, parts whose time is not known are left out.
    std::optional<std::int64_t> from_ns{}, to_ns{};
    std::string name =
        "*"; ///< of the recording: a pattern with * ? and [a-z]; * stands for slashes, too
};

/// What pull_archive() has done so far.
struct PullReport {
    std::uint64_t parts = 0;              ///< that are wanted
    std::uint64_t pulled = 0;             ///< of them, fetched now
    std::uint64_t already = 0;            ///< of them, in the folder before
    std::uint64_t bytes = 0;              ///< of samples that were fetched now
    std::uint64_t resumed = 0;            ///< bytes that an interrupted one had left in the folder
    std::vector<ArchiveProblem> problems; ///< parts that were not fetched
    std::vector<ArchiveProblem> damaged;  ///< parts that the archive does not have whole
};

/// Fetches parts of an archive into a folder, under their names: the samples first, into a file
/// with ".part" after its name, which gets its own name when their SHA-512 is that of the metadata
/// (without one: their MD5 is that of the store, if it has one), and then the metadata. Files that
/// are there are left alone; ones that differ are problems. A download that was interrupted goes on
/// where it was, if its hash is known. A part that is bad or cannot be read is a problem, and the
/// others are fetched.
///
///     pull_archive({.archive = {.place = "s3://roof/2026"}, .folder = "here",
///                   .from_ns = parse_utc("from", "2026-11-26T23:00"), .to_ns = parse_utc("to",
///                   "2026-11-27")});
///
/// `go_on` is called a few times a second, on the calling thread; false ends it with an Error
/// (EINTR). Blocks. Throws: as list_archive(); storage if the folder cannot be written. Thread: any
/// number at a time.
IIO_STREAM_API PullReport pull_archive(const PullConfig& config,
                                       const std::function<bool(const PullReport&)>& go_on = {});

} // namespace iio_stream
