// SPDX-License-Identifier: MIT
#pragma once

#include "file/sigmf/datatype.hpp"

#include <cstdint>
#include <string>

namespace iio_stream::file {

/// The recording in a SigMF archive. The archive is an uncompressed tar file (POSIX.1-2001, ustar
/// or GNU's format) with one NAME.sigmf-meta and one NAME.sigmf-data, in any of its folders.
struct SigmfArchive {
    std::string meta; ///< name of the metadata file in the archive
    std::uint64_t meta_begin = 0, meta_bytes = 0;
    std::uint64_t file_bytes = 0;                 ///< size of the archive
    std::uint64_t data_begin = 0, data_bytes = 0; ///< place of the samples in the archive
};

/// Whether `path` is an archive: a regular file with exactly this name, which ends in ".sigmf". If
/// there is no such file, the name stands for a pair of files.
bool is_archive(const std::string& path);

/// Reads the headers of an archive. Throws a storage Error if the file is not such an archive, or
/// is truncated, and a usage Error if it has several recordings.
SigmfArchive read_archive(const std::string& path);

/// The text of the metadata in the archive.
std::string archived_metadata_text(const std::string& path, const SigmfArchive& archive);
/// The name by which errors refer to the metadata in the archive.
std::string archived_metadata_name(const std::string& path, const SigmfArchive& archive);

/// The header of a file (type '0') or a folder ('5') in a new archive. It is a ustar header, with
/// an extended header before it if the ustar header has no room for the name or the size.
/// `modified`: seconds since 1970.
std::string tar_header(const std::string& name, char type, std::uint64_t bytes,
                       std::int64_t modified);

} // namespace iio_stream::file
