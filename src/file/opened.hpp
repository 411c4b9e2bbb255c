// SPDX-License-Identifier: MIT
#pragma once

#include "file/sigmf/metadata.hpp"
#include "file/sigmf/read_journal.hpp"
#include "iio_stream/recording.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace iio_stream::file {

/// A recording's files, what its metadata say (if it has any), and what an interruption left.
struct Opened {
    std::string meta, data;
    Json metadata;
    std::vector<std::string> problems;
    Contents contents; ///< format alone for raw samples; nothing if there are problems
    std::optional<JournalContents> journal;
    std::uint64_t bytes = 0;

    Opened(const std::string& path, const std::string& format);
    std::size_t sample_bytes() const
    {
        const std::size_t said = journal ? journal->sample_bytes : 0;
        return std::max<std::size_t>(
            contents.format.channels.empty() ? said : contents.format.sample_bytes, 1);
    }
    /// Only then the file may be longer than what was written.
    bool unfinished() const { return contents.state == State::recording; }
    /// A recorder has it open.
    bool is_live() const;
};

/// What check_recording() finds without reading the samples.
Recording check_all_but_hash(const Opened& opened);

} // namespace iio_stream::file
