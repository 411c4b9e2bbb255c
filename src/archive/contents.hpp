// SPDX-License-Identifier: MIT
#pragma once

#include "archive/series.hpp"
#include "archive/store.hpp"
#include "file/sigmf/metadata_reader.hpp"
#include "iio_stream/error.hpp"
#include "iio_stream/recording.hpp"

#include <cerrno>

namespace iio_stream::archive {

/// All that is in an archive, by its metadata.
struct Contents {
    std::vector<Series> recordings;
    std::vector<std::string> unfinished; ///< parts, sorted
    std::vector<ArchiveProblem> damaged;
    std::uint64_t read = 0; ///< metadata that were read, and not known from the index
};

/// The metadata of a part, as they were listed and read.
struct IndexedPart {
    Entry metadata;
    std::string text;
};
using Known = std::map<std::string, IndexedPart>; ///< by the part's name

/// Throws Stopped if `go_on` says so.
Contents contents_of(const ArchiveConfig& config, const GoOn& go_on);
/// The same for an index, with the texts of the metadata. Those that the index before has are not
/// read again, if the store lists them with the same ETag, size and time.
Contents contents_for_index(const ArchiveConfig& config, const GoOn& go_on);

/// Why pull would not make files of that name, without suffix, in a folder; "" if it would.
std::string why_not_pulled(const std::string& name);

struct Text {
    std::string text, etag;
};
/// All of an object; throws an Error (EBADMSG) with that reason if it is longer.
Text text_in(Store& store, const std::string& name, std::size_t longest = kMostMetadata,
             const std::string& too_long = file::kMetadataTooLong);

/// Whether it is about one object that is read, and others may be fine: not the store that cannot
/// be reached, a full disk, or this program that has no memory or no library.
inline bool is_of_one_object(const Error& error)
{
    for (const int number : {EHOSTUNREACH, EPROTO, ENOSPC, EDQUOT, EROFS, ENOMEM, EMFILE, ENFILE,
                             ENOSYS, ENOTSUP, EINTR})
        if (error.code().value() == number)
            return false;
    return true;
}

/// What is public, without the Stopped and with storage to blame.
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
