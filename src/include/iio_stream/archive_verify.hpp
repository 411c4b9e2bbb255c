// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/archive.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace iio_stream {

/// What verify_archive() has found so far.
struct ArchiveVerdict {
    std::uint64_t recordings = 0, parts = 0; ///< that are finished and whole, by their metadata
    std::uint64_t good = 0; ///< parts whose samples have the SHA-512 that their metadata state
    std::uint64_t without_hash =
        0;                   ///< parts whose metadata state none: their size alone is checked
    std::uint64_t bytes = 0; ///< of samples that were read for that
    GapTotals gaps;          ///< recorded losses and missing parts, of all recordings
    std::vector<std::string> unfinished; ///< as in ArchiveListing; not a problem
    /// Parts with damaged metadata, missing samples, another size or another hash, or that do not
    /// continue the part before; and samples that are missing between two parts, or within one, and
    /// are not recorded as lost.
    std::vector<ArchiveProblem> problems;
};

/// Checks an archive: metadata, sizes, hashes, and that the parts of each recording follow one
/// another. Reads all samples of which a hash is known, several parts at a time, and keeps none of
/// them.
///
///     const ArchiveVerdict verdict = verify_archive({.place = "s3://roof/2026"});
///     for (const ArchiveProblem& one : verdict.problems)
///         std::cerr << one.name << ": " << one.what << '\n';
///
/// `go_on` is called a few times a second, on the calling thread; false ends it with an Error
/// (EINTR). Blocks. Throws: as list_archive(); also if the store goes away meanwhile. Thread: any
/// number at a time.
IIO_STREAM_API ArchiveVerdict verify_archive(
    const ArchiveConfig& config, const std::function<bool(const ArchiveVerdict&)>& go_on = {});

} // namespace iio_stream
