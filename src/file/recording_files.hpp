// SPDX-License-Identifier: MIT
#pragma once

#include "file/journal/journal_reader.hpp"
#include "file/sigmf/metadata_reader.hpp"
#include "iio_stream/recording.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace iio_stream::file {

/// The files of a recording, the content of its metadata (if it has any), and the remains of an
/// interruption.
struct RecordingFiles {
    std::string meta, data; ///< both are the archive's path if the recording is archived
    Json metadata;          ///< as read from the file
    std::vector<std::string> problems;
    Contents contents; ///< only the format for raw samples; empty if the metadata cannot be read
    std::optional<JournalContents> journal;
    std::uint64_t bytes = 0;       ///< size of the data file
    std::uint64_t other_bytes = 0; ///< part of `bytes`: headers, and bytes after the last sample
    bool archived = false;         ///< the recording is in a SigMF archive, which is never changed
    std::uint64_t begin = 0;       ///< bytes of `data` before the samples
    /// Size of an interrupted WAV file that iio-stream wrote; the header of such a file has no
    /// sizes.
    std::optional<std::uint64_t> unsized_bytes;

    RecordingFiles(const std::string& path, const std::string& format);
    std::size_t sample_bytes() const
    {
        const std::size_t said = journal ? journal->sample_bytes : 0;
        return std::max<std::size_t>(
            contents.format.channels.empty() ? said : contents.format.sample_bytes, 1);
    }
    /// Bytes of the data file that are samples.
    std::uint64_t sample_data_bytes() const noexcept { return bytes - other_bytes; }
    /// Whether the recording has not been finished. Only then can the file be longer than the data
    /// that were written to it.
    bool unfinished() const { return contents.state == State::recording; }
};

/// The part of check_recording() that does not read the samples.
Recording check_all_but_hash(const RecordingFiles& opened);

} // namespace iio_stream::file
