// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/archive.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace iio_stream {

/// The archive that verify_archive() checks, and how thoroughly.
struct VerifyConfig {
    ArchiveConfig archive;
    /// Reads the samples of all parts. Samples whose metadata contain no hash are compared with the
    /// store's checksum, if the store has one (an ETag derived from MD5).
    bool data = false;
};

/// The results of verify_archive() so far.
struct ArchiveVerification {
    std::uint64_t recordings = 0, parts = 0; ///< recordings and parts that are finished and
                                             ///< complete according to their metadata
    std::uint64_t good = 0;          ///< parts whose samples match the SHA-512 in their metadata
    std::uint64_t good_in_store = 0; ///< parts without a SHA-512 in their metadata whose samples
                                     ///< match the checksum of the store
    std::uint64_t without_hash =
        0;                   ///< parts with neither hash, or not read: only their size is checked
    std::uint64_t bytes = 0; ///< bytes of samples that were read for the comparison
    GapTotals gaps;          ///< recorded losses and missing parts of all recordings
    std::vector<std::string> unfinished; ///< as in ArchiveListing; not a problem
    /// Parts with damaged metadata, missing samples, a different size or a different hash, and
    /// parts that do not continue the previous part. Also samples that are missing between two
    /// parts or within a part and are not recorded as lost.
    std::vector<ArchiveProblem> problems;
};

/// Checks an archive: metadata, sizes, hashes, and that the parts of each recording follow one
/// another. Reads the samples of several parts at a time: those with a known hash, or all if
/// VerifyConfig::data is set. The samples are not stored. If a part is damaged or cannot be read,
/// it is reported as a problem, and the other parts are checked.
///
///     const ArchiveVerification verification =
///         verify_archive({.archive = {.place = "s3://roof/2026"}});
///     for (const ArchiveProblem& one : verification.problems)
///         std::cerr << one.name << ": " << one.what << '\n';
///
/// `go_on` is called a few times a second, on the calling thread; if it returns false, the call
/// ends with an Error (EINTR). The call blocks.
/// Throws: Error as list_archive() does, also if the store becomes unreachable. In that case
/// `go_on` first gets the results found until then.
/// Thread: any number of calls can run at the same time.
IIO_STREAM_API ArchiveVerification verify_archive(
    const VerifyConfig& config, const std::function<bool(const ArchiveVerification&)>& go_on = {});

} // namespace iio_stream
