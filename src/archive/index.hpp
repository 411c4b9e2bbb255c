// SPDX-License-Identifier: MIT
// An archive's index has one JSON value per line. The first line has the version of the format and
// the SHA-512 of everything after that line. The hash detects damage and truncation, but not
// forgery. The second line is the listing. In it, each recording has the global object of its first
// part's metadata, without the keys whose values are different in each part. For each recording, in
// the same order, a line with its search keys and one line per part follow. Each search key has an
// array with one element per part. "part" has the rest of the part's name after the recording's
// name. "bytes" has the size of the data object. "utc_ns" has the earliest time of the part's
// captures, or null. The line of a part is:
//   {"meta": [size, time in ns, ETag] as listed,
//    "words": the metadata, whose global object has only the keys that differ from the recording's,
//    "without": keys of the recording's global object that the part does not have}.
#pragma once

#include "archive/contents.hpp"
#include "iio_stream/archive_index.hpp"

#include <map>
#include <string_view>

namespace iio_stream::archive {

inline constexpr const char* kIndex = "iio-stream-index.jsonl";
inline constexpr std::size_t kLongestIndex = std::size_t{1} << 30; ///< several million parts
inline constexpr const char* kIndexTooLong = "the index is larger than 1 GiB";

/// Returns the text of an index. `found` must have the texts of the metadata.
std::string index_of(const Contents& found, std::int64_t as_of_ns);

/// Reads the listing in the second line of an index. Throws an Error whose detail states what is
/// wrong with the index.
IndexedListing listing_in(std::string_view index);

/// Returns the metadata in an index, by the names of their parts; empty if the index is damaged.
Known parts_in(std::string_view index);

} // namespace iio_stream::archive
