// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/api.hpp"
#include "iio_stream/format.hpp"
#include "iio_stream/stats.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace iio_stream {

/// The source, the destination and the settings of push_archive().
struct PushConfig {
    std::string folder;  ///< folder with recordings, including closed parts of running recordings;
                         ///< subfolders are included
    std::string archive; ///< "s3://BUCKET" or "s3://BUCKET/PREFIX"
    /// Which recordings stay in the folder after they are stored: "all", "none", "last:100Gi" (the
    /// newest ones, up to that size) or "last:24h" (those whose last sample is not older). The age
    /// is that of the last sample according to the metadata; if the metadata contain no time, the
    /// modification time of the metadata file counts. Recordings that are not stored always stay.
    std::string keep = "all";
    double bandwidth = 0; ///< maximum rate of all uploads in bytes per second; 0: no limit
    /// How long to retry a request for the same object while the store is unreachable or asks to
    /// retry later (500, 503, 429). After this time, push_archive() throws an Error.
    std::chrono::nanoseconds retry = std::chrono::minutes(5);
};

/// The progress of push_archive().
struct PushReport {
    std::uint64_t parts = 0;      ///< recordings found: each a .sigmf-meta and its samples
    std::uint64_t stored = 0;     ///< recordings that this call has uploaded
    std::uint64_t already = 0;    ///< recordings that were already in the archive
    std::uint64_t unfinished = 0; ///< recordings that are still being made or were interrupted, and
                                  ///< are skipped
    std::uint64_t removed =
        0; ///< stored recordings that were removed from the folder as PushConfig::keep requires
    std::uint64_t removed_bytes = 0; ///< bytes of samples of the removed recordings
    std::uint64_t bytes = 0;         ///< bytes that this call has sent and the store has confirmed
    std::uint64_t resumed = 0;       ///< bytes that an interrupted upload had left in the store
    std::uint64_t retries = 0;       ///< number of repeated requests
    std::vector<std::string>
        problems; ///< recordings that are damaged, differ from the stored object of the same name,
                  ///< were not stored as they were sent, or have a name that pull_archive() rejects
};

/// Uploads the closed recordings of a folder to S3-compatible object storage, in the order of their
/// names and four at a time. The samples of a part are uploaded before its metadata, so that every
/// listed part of an archive is complete. A part counts as stored when the store has confirmed the
/// MD5 of the object; if the store does not report an MD5, the object is read back and its SHA-256
/// is compared. Stored recordings are not sent again: they are recognized by the hash in the
/// metadata (hash=end), or, without one, by the MD5 of the file. An interrupted upload resumes
/// where it stopped. Two pushes can run for the same folder. Local files are only read, except
/// those that `keep` removes.
///
/// Address, region and credentials have the same sources as in other S3 clients:
/// AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, AWS_REGION, AWS_DEFAULT_REGION, AWS_ACCESS_KEY_ID,
/// AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_CA_BUNDLE, AWS_PROFILE and the files ~/.aws/config
/// and ~/.aws/credentials. HTTPS_PROXY sets a proxy, as for curl.
///
///     const PushReport done = push_archive({.folder = "/data", .archive = "s3://roof/2026"},
///                                          [](const PushReport&) { return !g_end; });
///
/// `go_on` is called a few times a second and at the end, on the calling thread; if it returns
/// false, the push ends as soon as possible, without an Error. The call blocks until the push is
/// complete. The uploads run on threads of their own, with the I/O priority "idle" and up to 16 MiB
/// of a file in memory each (more for files above 160 GB).
/// Throws: a usage Error for an invalid address or setting; a storage Error, with the store's
/// message, if the store rejects a request or stays unreachable; ENOTSUP in a build without
/// libcurl.
/// Thread: any number of calls can run at the same time, each with its own report.
IIO_STREAM_API PushReport push_archive(const PushConfig& config,
                                       const std::function<bool(const PushReport&)>& go_on = {});

/// The location of an archive, and how to access it.
struct ArchiveConfig {
    std::string place;        ///< a folder, "file:///FOLDER" or "s3://BUCKET/PREFIX"
    unsigned connections = 8; ///< number of objects that are requested at the same time
    /// How long to retry a request for the same object while the store is unreachable or busy.
    std::chrono::nanoseconds retry = std::chrono::minutes(5);
};

/// A recording in an archive: the parts NAME.0000, NAME.0001 … that one recorder has written of one
/// stream, or a single unsplit recording.
struct ArchivedRecording {
    std::string name;   ///< name of its files, relative to ArchiveConfig::place, without number and
                        ///< suffix
    std::string device; ///< core:hw in its metadata; "" if unknown
    Format format;
    /// The time of its first sample, in nanoseconds since 1970 UTC, and its duration, including
    /// losses; empty if the metadata do not contain them.
    std::optional<std::int64_t> begin_ns;
    std::optional<double> seconds;
    std::optional<double> frequency, sample_rate; ///< in Hz; empty if unknown or if the value
                                                  ///< changes
    std::uint64_t first_index = 0;                ///< sample index of its first sample
    std::uint64_t samples = 0, bytes = 0;         ///< stored samples and their bytes, including
                                                  ///< zeros for lost samples
    std::uint64_t parts = 0;
    GapTotals gaps; ///< losses: recorded losses, zeros for lost samples, and missing parts
};

/// A problem with an object or file of an archive.
struct ArchiveProblem {
    std::string name; ///< name relative to ArchiveConfig::place
    std::string what;
};

/// The result of list_archive().
struct ArchiveListing {
    std::vector<ArchivedRecording> recordings; ///< ordered by name
    std::vector<std::string>
        unfinished; ///< names without suffix of parts that are being written or were interrupted
    std::vector<ArchiveProblem>
        damaged; ///< parts that are omitted because of their metadata or size
};

/// Finds the recordings of an archive. Reads only the metadata, of several parts at a time.
/// The store and the credentials are configured as for push_archive().
///
///     for (const ArchivedRecording& one : list_archive({.place = "s3://roof/2026"}).recordings)
///         std::cout << one.name << ": " << one.samples << " samples, " << one.gaps.certain
///                   << " losses\n";
///
/// `go_on` is called a few times a second, on the calling thread; if it returns false, the call
/// ends with an Error (EINTR). The call blocks.
/// Throws: a usage Error for an invalid place; a storage Error, with ENOENT if the folder or bucket
/// does not exist; ENOTSUP for s3:// in a build without libcurl.
/// Thread: any number of calls can run at the same time.
IIO_STREAM_API ArchiveListing list_archive(const ArchiveConfig& config,
                                           const std::function<bool()>& go_on = {});

} // namespace iio_stream
