// SPDX-License-Identifier: MIT
// The index of an archive: JSON in lines. The first has the version of the format and the SHA-512
// of all that follows, which detects what is damaged or cut, not what is forged. The second is what
// a list says, each recording with the global object of its first part's metadata. Then, for each
// recording in that order, a line with arrays of what its parts are looked for by: "part", what the
// name has after that of the recording; "bytes", the size of the samples; "utc_ns", the earliest
// time of a capture, or null. And a line for each part:
//   {"meta": [size, time in ns, ETag] as listed, "words": the metadata, whose global object has
//   only what differs,
//    "without": keys of that object which it does not have}.
#pragma once

#include "archive/contents.hpp"
#include "iio_stream/archive_index.hpp"

#include <map>
#include <string_view>

namespace iio_stream::archive {

inline constexpr const char* kIndex = "iio-stream-index.jsonl";
inline constexpr std::size_t kLongestIndex = std::size_t{1} << 30; ///< of some million parts
inline constexpr const char* kIndexTooLong = "the index has more than 1 GiB";

/// From contents with the texts of their metadata.
std::string index_of(const Contents& found, std::int64_t as_of_ns);

/// What its second line says. Throws an Error whose detail is what is wrong with it.
IndexedListing listing_in(std::string_view index);

/// Metadata that it has, by the names of their parts: none if it is damaged.
Known parts_in(std::string_view index);

} // namespace iio_stream::archive
