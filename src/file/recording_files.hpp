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

/// A recording's files, what its metadata say (if it has any), and what an interruption left.
struct RecordingFiles {
    std::string meta, data; ///< of an archive both are its own name
    Json metadata;          ///< as they were read
    std::vector<std::string> problems;
    Contents contents; ///< format alone for raw samples; nothing if they cannot be read
    std::optional<JournalContents> journal;
    std::uint64_t bytes = 0;       ///< of the data file
    std::uint64_t other_bytes = 0; ///< of them, in headers and after the last sample
    bool archived = false;         ///< in a SigMF archive, which is never changed
    std::uint64_t begin = 0;       ///< bytes of `data` before the samples
    /// The length of a WAV file of ours that was interrupted: its header has no sizes.
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
    /// Only then the file may be longer than what was written.
    bool unfinished() const { return contents.state == State::recording; }
};

/// What check_recording() finds without reading the samples.
Recording check_all_but_hash(const RecordingFiles& opened);

} // namespace iio_stream::file
