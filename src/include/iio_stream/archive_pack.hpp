// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/api.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace iio_stream {

/// The input and the output of pack_recordings().
struct PackConfig {
    std::vector<std::string> recordings; ///< SigMF recordings: x.sigmf-meta, x.sigmf-data or x
    std::string archive;                 ///< x.sigmf
    bool overwrite = false;              ///< replace an existing file of that name
};

/// The progress of pack_recordings().
struct PackReport {
    std::uint64_t recordings = 0; ///< recordings in the archive
    std::uint64_t hashed = 0;     ///< recordings whose samples were compared with the SHA-512 in
                                  ///< their metadata
    std::uint64_t bytes = 0;      ///< bytes of their samples
};

/// Writes a SigMF archive: a tar file (POSIX.1-2001) with a folder NAME for each recording, which
/// contains unmodified copies of NAME.sigmf-meta and NAME.sigmf-data. A recording is rejected if
/// its samples do not match the SHA-512 in its metadata. The archive gets its name only when all of
/// it is on the disk; a failed or cancelled call leaves no file. A source can read an archive that
/// contains one recording.
///
///     pack_recordings({.recordings = {"roof.sigmf-meta"}, .archive = "roof.sigmf"});
///
/// `go_on` is called for each MiB, on the calling thread; if it returns false, the call ends with
/// an Error (EINTR). The call blocks.
/// Throws: a usage Error if a path is not a SigMF recording, if two recordings have the same name,
/// or if the archive's name does not end in .sigmf; a storage Error if a recording is damaged or
/// incomplete, if the archive exists already (EEXIST), or if a file cannot be read or written.
/// Thread: any number of calls can run at the same time.
IIO_STREAM_API PackReport pack_recordings(const PackConfig& config,
                                          const std::function<bool(const PackReport&)>& go_on = {});

} // namespace iio_stream
