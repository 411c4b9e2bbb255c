// SPDX-License-Identifier: MIT
#pragma once

#include "archive/series.hpp"
#include "archive/store.hpp"
#include "file/sigmf/metadata_reader.hpp"
#include "iio_stream/error.hpp"
#include "iio_stream/recording.hpp"

#include <cerrno>

namespace iio_stream::archive {

/// The recordings, the unfinished parts and the damaged parts of an archive, as its metadata
/// describe them.
struct Contents {
    std::vector<Series> recordings;
    std::vector<std::string> unfinished; ///< parts, sorted
    std::vector<ArchiveProblem> damaged;
    std::uint64_t read = 0; ///< metadata files read because the index did not have them
};

/// The metadata of a part: the entry in the listing, and the text.
struct IndexedPart {
    Entry metadata;
    std::string text;
};
using Known = std::map<std::string, IndexedPart>; ///< by the part's name

/// Reads the metadata of all parts. Throws Stopped if `go_on` returns false.
Contents contents_of(const ArchiveConfig& config, const GoOn& go_on);
/// Like contents_of(), but keeps the texts of the metadata, for an index. Metadata are not read
/// again if the previous index has them and the store lists the same ETag, size and time.
Contents contents_for_index(const ArchiveConfig& config, const GoOn& go_on);

/// Returns the reason why `archive pull` would not create files with this name (without suffix) in
/// a folder; "" if it would.
std::string why_not_pulled(const std::string& name);

struct Text {
    std::string text, etag;
};
/// Reads a whole object. Throws an Error (EBADMSG) with the detail `too_long` if the object is
/// longer than `longest` bytes.
Text text_in(Store& store, const std::string& name, std::size_t longest = kMostMetadata,
             const std::string& too_long = file::kMetadataTooLong);

/// Returns whether an error concerns only one object, so that operations on other objects can still
/// succeed. It returns false if, for example, the store cannot be reached, the disk is full, or
/// this program lacks memory or a library.
inline bool is_of_one_object(const Error& error)
{
    for (const int number : {EHOSTUNREACH, EPROTO, ENOSPC, EDQUOT, EROFS, ENOMEM, EMFILE, ENFILE,
                             ENOSYS, ENOTSUP, EINTR})
        if (error.code().value() == number)
            return false;
    return true;
}

/// Runs the body of a public function. Turns Stopped into an Error (EINTR), and blames an Error
/// without a known fault on the storage.
template <typename Function>
auto guarded(const ArchiveConfig& config, const char* what, Function function)
try {
    return function();
} catch (const Stopped&) {
    throw Error(Fault::other, EINTR, what, config.place, "ended early");
} catch (const Error& error) {
    throw error.blamed_on(Fault::storage);
}

} // namespace iio_stream::archive
