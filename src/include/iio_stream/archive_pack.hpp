// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/api.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace iio_stream {

/// What pack_recordings() writes, and where to.
struct PackConfig {
    std::vector<std::string> recordings; ///< SigMF's: x.sigmf-meta, x.sigmf-data or x
    std::string archive;                 ///< x.sigmf
    bool overwrite = false;              ///< replace a file of that name
};

/// What pack_recordings() has done so far.
struct PackReport {
    std::uint64_t recordings = 0; ///< that are in the archive
    std::uint64_t hashed = 0;     ///< of them, compared with the SHA-512 of their metadata
    std::uint64_t bytes = 0;      ///< of samples
};

/// Writes a SigMF archive: a tar file (POSIX.1-2001) that has a folder NAME for each recording,
/// with NAME.sigmf-meta and NAME.sigmf-data as they are. A recording whose samples do not have the
/// SHA-512 of their metadata is refused. The archive gets its name when all of it is on the disk;
/// one that could not be finished leaves nothing. A source reads an archive of one recording.
///
///     pack_recordings({.recordings = {"roof.sigmf-meta"}, .archive = "roof.sigmf"});
///
/// `go_on` is called for each MiB, on the calling thread; false ends it with an Error (EINTR).
/// Blocks. Throws: usage for what is not a SigMF recording, names that are there twice, or an
/// archive that is not called .sigmf; storage for a recording that is damaged or not complete, for
/// a file of that name (EEXIST), and for what cannot be read or written. Thread: any number at a
/// time.
IIO_STREAM_API PackReport pack_recordings(const PackConfig& config,
                                          const std::function<bool(const PackReport&)>& go_on = {});

} // namespace iio_stream
