// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/archive.hpp"

namespace iio_stream {

/// The result of index_archive().
struct IndexReport {
    std::uint64_t recordings = 0, parts = 0; ///< recordings and parts in the index
    std::uint64_t read = 0; ///< parts whose metadata were read; the others were taken from the
                            ///< previous index
    std::uint64_t unfinished = 0, damaged = 0; ///< parts that are not in the index
    std::uint64_t bytes = 0;                   ///< bytes of the index
};

/// Writes the contents of the metadata of all parts into one object of the archive,
/// `iio-stream-index.jsonl`, which replaces the previous index. In a bucket, metadata in the
/// previous index are not read again if the store still lists them with the same ETag, size and
/// time. The object can be removed at any time: the next call then reads all metadata.
///
///     index_archive({.place = "s3://roof/2026"}); // from a timer
///     const IndexedListing found = list_index({.place = "s3://roof/2026"}); // one request
///
/// `go_on` is called a few times a second, on the calling thread; if it returns false, the call
/// ends with an Error (EINTR), and the previous index is kept. The call blocks.
/// Throws: Error as list_archive() does, and a storage Error if the index cannot be written.
/// Thread: any number of calls can run at the same time; the last one to finish determines the
/// index.
IIO_STREAM_API IndexReport index_archive(const ArchiveConfig& config,
                                         const std::function<bool()>& go_on = {});

/// A listing that was read from an index.
struct IndexedListing : ArchiveListing {
    std::int64_t as_of_ns = 0; ///< when index_archive() began to list the archive, in nanoseconds
                               ///< since 1970 UTC
};

/// Reads only the index. Parts that were stored after it was written are missing, and parts that
/// were removed since are still listed. A damaged index is rejected. Its contents are not verified:
/// anyone with write access to the index can change them.
/// Throws: a storage Error, with ENOENT if there is no index, and with EBADMSG if it is damaged or
/// was written by a later version.
/// Thread: any number of calls can run at the same time.
IIO_STREAM_API IndexedListing list_index(const ArchiveConfig& config,
                                         const std::function<bool()>& go_on = {});

} // namespace iio_stream
