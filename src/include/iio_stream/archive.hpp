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

/// What push_archive() uploads, and how.
struct PushConfig {
    std::string
        folder; ///< of recordings, closed parts and others; its subfolders are looked at, too
    std::string archive; ///< "s3://BUCKET" or "s3://BUCKET/PREFIX"
    /// Which recordings stay in the folder once they are stored: "all", "none", "last:100Gi" (the
    /// newest ones, up to that size) or "last:24h" (those whose last sample is not older). Their
    /// metadata say which are the newest; where they do not know the time, that of the metadata
    /// file counts. What is not stored always stays.
    std::string keep = "all";
    double bandwidth = 0; ///< upload at most this many bytes per second; 0: as many as possible
    /// How long a store that cannot be reached, or answers "later" (500, 503, 429), is asked again
    /// for the same object; then it is an Error.
    std::chrono::nanoseconds retry = std::chrono::minutes(5);
};

/// What push_archive() has done so far.
struct PushReport {
    std::uint64_t parts = 0;      ///< recordings found: each a .sigmf-meta and its samples
    std::uint64_t stored = 0;     ///< of them, uploaded now
    std::uint64_t already = 0;    ///< of them, in the archive before
    std::uint64_t unfinished = 0; ///< of them, still being recorded or interrupted, and left alone
    std::uint64_t removed =
        0; ///< of those that are stored, removed from the folder as PushConfig::keep says
    std::uint64_t removed_bytes = 0; ///< of their samples
    std::uint64_t bytes = 0;         ///< sent now, and confirmed by the store
    std::uint64_t resumed = 0;       ///< bytes that an interrupted upload had left in the store
    std::uint64_t retries = 0;       ///< requests that were made again
    std::vector<std::string>
        problems; ///< recordings that are damaged, differ from what is stored under their name, or
                  ///< have a name that pull_archive() would refuse
};

/// Uploads the closed recordings of a folder to S3-compatible object storage, oldest name first.
/// Samples go before their metadata, so that what an archive lists is complete. A part counts as
/// stored when the store has confirmed the MD5 of what it holds, or, where it reports none, when
/// the object was read back and its SHA-256 compared. What is stored already is not sent again: by
/// the hash in the metadata (hash=end), without which the file is read and its MD5 compared. An
/// upload that was interrupted goes on where it was. Two of them may run for the same folder. Local
/// files are only read, unless `keep` has them removed.
///
/// Address, region and credentials are those of other S3 clients: AWS_ENDPOINT_URL_S3,
/// AWS_ENDPOINT_URL, AWS_REGION, AWS_DEFAULT_REGION, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY,
/// AWS_SESSION_TOKEN, AWS_CA_BUNDLE, AWS_PROFILE and the files ~/.aws/config and
/// ~/.aws/credentials. A proxy is HTTPS_PROXY, as for curl.
///
///     const PushReport done = push_archive({.folder = "/data", .archive = "s3://roof/2026"},
///                                          [](const PushReport&) { return !g_end; });
///
/// `go_on` is called about once a second and after each part, on the calling thread; false ends the
/// push as soon as possible, without an Error. Blocks until all is done; the thread's I/O priority
/// is "idle" meanwhile. Throws: usage for an address or setting that makes no sense; storage, with
/// the store's words, if the store refuses or stays away; ENOTSUP in a build without libcurl.
/// Thread: any number at a time, each with its own report.
IIO_STREAM_API PushReport push_archive(const PushConfig& config,
                                       const std::function<bool(const PushReport&)>& go_on = {});

/// Which archive is looked at, and how.
struct ArchiveConfig {
    std::string place;        ///< a folder, "file:///FOLDER" or "s3://BUCKET/PREFIX"
    unsigned connections = 8; ///< objects that are asked for at once
    /// How long a store that cannot be reached, or is busy, is asked again for the same object.
    std::chrono::nanoseconds retry = std::chrono::minutes(5);
};

/// The parts NAME.0000, NAME.0001 … that one recorder has written of one stream, or one that is not
/// split.
struct ArchivedRecording {
    std::string name;   ///< of its files, below the place, without number and suffix
    std::string device; ///< core:hw of its metadata; "" if it is unknown
    Format format;
    /// When its first sample was taken, in nanoseconds since 1970 UTC, and how long it takes,
    /// losses included; empty if the metadata do not say so.
    std::optional<std::int64_t> begin_ns;
    std::optional<double> seconds;
    std::optional<double> frequency, sample_rate; ///< in Hz; empty if unknown, or if they change
    std::uint64_t first_index = 0;                ///< sample index of its first sample
    std::uint64_t samples = 0, bytes = 0;         ///< that are there, zeros for lost ones included
    std::uint64_t parts = 0;
    GapTotals gaps; ///< in it: recorded losses, zeros for lost samples, parts that are missing
};

/// An object, or file, that is not as it should be.
struct ArchiveProblem {
    std::string name; ///< below the place
    std::string what;
};

/// What list_archive() finds.
struct ArchiveListing {
    std::vector<ArchivedRecording> recordings; ///< by name
    std::vector<std::string>
        unfinished; ///< parts that are being written, or were interrupted; without suffix
    std::vector<ArchiveProblem>
        damaged; ///< parts that are left out because of their metadata or size
};

/// Finds the recordings of an archive, by reading their metadata alone: all of them, several at a
/// time. Store and credentials are those of push_archive().
///
///     for (const ArchivedRecording& one : list_archive({.place = "s3://roof/2026"}).recordings)
///         std::cout << one.name << ": " << one.samples << " samples, " << one.gaps.certain << "
///         losses\n";
///
/// `go_on` is called a few times a second, on the calling thread; false ends it with an Error
/// (EINTR). Blocks. Throws: usage for a place that makes no sense; storage, ENOENT if there is
/// nothing; ENOTSUP for s3:// in a build without libcurl. Thread: any number at a time.
IIO_STREAM_API ArchiveListing list_archive(const ArchiveConfig& config,
                                           const std::function<bool()>& go_on = {});

} // namespace iio_stream
