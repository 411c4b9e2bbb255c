// SPDX-License-Identifier: MIT
#pragma once

#include "file/journal/file_loss.hpp"
#include "file/journal/file_retuning.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace iio_stream::file {

/// The content of the journal next to a data file. journal.hpp describes the format.
struct JournalContents {
    std::size_t sample_bytes = 0;
    std::uint64_t part = 0;  ///< number of the file in a series
    bool reserved = true;    ///< the file may be longer than its samples
    std::uint64_t bytes = 0; ///< known to be in the file
    std::optional<std::uint64_t>
        losses_final;                 ///< losses before it are listed; empty: those in `bytes`
    std::optional<std::uint64_t> end; ///< byte at which the samples end
    std::optional<std::uint64_t> first_index;
    bool first_exact = true;
    std::uint64_t bytes_before = 0; ///< bytes of samples in the part before it; 0 = unknown
    std::vector<Loss> losses;
    std::optional<Settings> settings;   ///< first sample's settings, if not those of the stream
    std::vector<Retuned> retunings;     ///< `between` is not set: it depends on earlier settings
    std::optional<std::uint64_t> tuned; ///< all retunings before this sample are listed

    /// The tunings of a file whose metadata state the settings `said` for its first sample.
    Tunings tunings(const Settings& said) const;
};

/// The journal of the data file `data`; nullopt if there is none. A torn line, and everything after
/// it, is ignored.
std::optional<JournalContents> read_journal(const std::string& data);
/// Parses the text of a journal.
JournalContents parse_journal(const std::string& text);

/// Whether the file system reports holes. Holes show which parts of a file were not written.
enum class Holes { reported, unknown };

/// The number of bytes of a data file that are whole samples, not space reserved for more. The
/// samples end at the first hole or, if holes are unknown, where the journal states. A copy of the
/// file may have zeros in place of holes. Therefore, zeros at the end count as reserved space, and
/// earlier pages of zeros count as holes, unless the journal states that they are samples.
std::uint64_t valid_bytes(int fd, const std::string& data,
                          const std::optional<JournalContents>& journal, std::size_t sample_bytes,
                          Holes holes);

} // namespace iio_stream::file
