// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/archive.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace iio_stream {

/// What verify_archive() checks.
struct VerifyConfig {
    ArchiveConfig archive;
    /// Read the samples of all parts: those whose metadata state no hash are compared with the
    /// checksum of the store, if it has one (an ETag that is of their MD5).
    bool data = false;
};

/// What verify_archive() has found so far.
struct ArchiveVerification {
    std::uint64_t recordings = 0, parts = 0; ///< that are finished and whole, by their metadata
    std::uint64_t good = 0; ///< parts whose samples have the SHA-512 that their metadata state
    std::uint64_t good_in_store =
        0; ///< parts whose metadata state none, and whose samples have the checksum of the store
    std::uint64_t without_hash =
        0;                   ///< parts with neither, or not read: their size alone is checked
    std::uint64_t bytes = 0; ///< of samples that were read for that
    GapTotals gaps;          ///< recorded losses and missing parts, of all recordings
    std::vector<std::string> unfinished; ///< as in ArchiveListing; not a problem
    /// Parts with damaged metadata, missing samples, another size or another hash, or that do not
    /// continue the part before; and samples that are missing between two parts, or within one, and
    /// are not recorded as lost.
    std::vector<ArchiveProblem> problems;
};

/// Checks an archive: metadata, sizes, hashes, and that the parts of each recording follow one
/// another. Reads all samples of which a hash is known (or all, by VerifyConfig::data), several
/// parts at a time, and keeps none of them. A part that is bad or cannot be read is a problem, and
/// the others are checked.
///
///     const ArchiveVerification verification =
///         verify_archive({.archive = {.place = "s3://roof/2026"}});
///     for (const ArchiveProblem& one : verification.problems)
///         std::cerr << one.name << ": " << one.what << '\n';
///
/// `go_on` is called a few times a second, on the calling thread; false ends it with an Error
/// (EINTR). Blocks. Throws: as list_archive(); also if the store goes away meanwhile, after `go_on`
/// has got what was found until then. Thread: any number at a time.
IIO_STREAM_API ArchiveVerification verify_archive(
    const VerifyConfig& config, const std::function<bool(const ArchiveVerification&)>& go_on = {});

} // namespace iio_stream
