// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/archive.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace iio_stream {

/// The source, the selection and the destination of pull_archive().
struct PullConfig {
    ArchiveConfig archive;
    std::string folder; ///< destination; created if it does not exist
    /// Selects the parts with samples that were taken at or after `from_ns` and before `to_ns`, in
    /// nanoseconds since 1970 UTC. If either is given, parts of unknown time are omitted.
    std::optional<std::int64_t> from_ns{}, to_ns{};
    std::string name =
        "*"; ///< name of the recording: a pattern with * ? and [a-z]; * also matches slashes
};

/// The progress of pull_archive().
struct PullReport {
    std::uint64_t parts = 0;              ///< selected parts
    std::uint64_t pulled = 0;             ///< selected parts that this call has fetched
    std::uint64_t already = 0;            ///< selected parts that were already in the folder
    std::uint64_t bytes = 0;              ///< bytes of samples that this call has fetched
    std::uint64_t resumed = 0;            ///< bytes that an interrupted call left in the folder
    std::vector<ArchiveProblem> problems; ///< parts that were not fetched
    std::vector<ArchiveProblem> damaged;  ///< parts that are damaged or incomplete in the archive
};

/// Fetches parts of an archive into a folder, under their own names. The samples are fetched first,
/// into a file with the suffix ".part". This file gets its final name when the SHA-512 of the
/// samples matches the metadata. If the metadata contain no hash, the MD5 must match the store's,
/// if the store has one. The metadata are fetched last. Existing files are not modified; files that
/// differ are reported as problems. An interrupted download resumes if the hash of the samples is
/// known. If a part is damaged or cannot be read, it is reported as a problem, and the other parts
/// are fetched.
///
///     pull_archive({.archive = {.place = "s3://roof/2026"}, .folder = "here",
///                   .from_ns = parse_utc("from", "2026-11-26T23:00"),
///                   .to_ns = parse_utc("to", "2026-11-27")});
///
/// `go_on` is called a few times a second, on the calling thread; if it returns false, the call
/// ends with an Error (EINTR). The call blocks.
/// Throws: Error as list_archive() does, and a storage Error if the folder cannot be written.
/// Thread: any number of calls can run at the same time.
IIO_STREAM_API PullReport pull_archive(const PullConfig& config,
                                       const std::function<bool(const PullReport&)>& go_on = {});

} // namespace iio_stream
