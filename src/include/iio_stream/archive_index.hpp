// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/archive.hpp"

namespace iio_stream {

/// What index_archive() has written.
struct IndexReport {
    std::uint64_t recordings = 0, parts = 0; ///< that are in the index
    std::uint64_t read = 0; ///< parts whose metadata were read; the others were in the index before
    std::uint64_t unfinished = 0, damaged = 0; ///< parts that are not in it
    std::uint64_t bytes = 0;                   ///< of the index
};

/// Writes what the metadata of all parts say into one object of the archive,
/// `iio-stream-index.jsonl`, in place of the one before. In a bucket, metadata that the one before
/// has, with the ETag, size and time that the store lists now, are not read again. The object may
/// be removed at any time: the next index then has all metadata read.
///
///     index_archive({.place = "s3://roof/2026"}); // from a timer
///     const IndexedListing found = list_index({.place = "s3://roof/2026"}); // one request
///
/// `go_on` is called a few times a second, on the calling thread; false ends it with an Error
/// (EINTR), and what was there stays. Blocks. Throws as list_archive() does, and storage if the
/// index cannot be written. Thread: any number at a time; the last one's index stays.
IIO_STREAM_API IndexReport index_archive(const ArchiveConfig& config,
                                         const std::function<bool()>& go_on = {});

/// What index_archive() has found.
struct IndexedListing : ArchiveListing {
    std::int64_t as_of_ns = 0; ///< when it began to look, in nanoseconds since 1970 UTC
};

/// Reads the index alone: what was stored since is not in it, and what was removed since still is.
/// A damaged index is refused; whoever may write it may have it say anything. Throws: storage,
/// ENOENT if there is no index, EBADMSG if it is damaged or of a later version. Thread: any number
/// at a time.
IIO_STREAM_API IndexedListing list_index(const ArchiveConfig& config,
                                         const std::function<bool()>& go_on = {});

} // namespace iio_stream
