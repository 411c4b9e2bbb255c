// SPDX-License-Identifier: MIT
#pragma once

#include "file/sigmf/datatype.hpp"

#include <cstdint>
#include <string>

namespace iio_stream::file {

/// The recording in a SigMF archive: an uncompressed tar file (POSIX.1-2001, ustar or GNU's
/// format) with one NAME.sigmf-meta and one NAME.sigmf-data, in any folder of it.
struct SigmfArchive {
    std::string meta; ///< name of the metadata in it
    std::uint64_t meta_begin = 0, meta_bytes = 0;
    std::uint64_t file_bytes = 0;                 ///< of the archive
    std::uint64_t data_begin = 0, data_bytes = 0; ///< of the samples: bytes of the archive
};

/// Whether `path` is an archive: a regular file of exactly that name, which ends in ".sigmf". If
/// there is none, such a name is a pair of files.
bool is_archive(const std::string& path);

/// Throws: a storage Error for a file that is not such an archive, or is truncated; a usage Error
/// for one with several recordings.
SigmfArchive read_archive(const std::string& path);

/// The text of the metadata in it.
std::string archived_metadata_text(const std::string& path, const SigmfArchive& archive);
/// Their name in errors.
std::string archived_metadata_name(const std::string& path, const SigmfArchive& archive);

/// The header of a file (type '0') or a folder ('5') in an archive that is written: ustar's, after
/// an extended one where that has no room for the name or the size. `modified`: seconds since 1970.
std::string tar_header(const std::string& name, char type, std::uint64_t bytes,
                       std::int64_t modified);

} // namespace iio_stream::file
