// SPDX-License-Identifier: MIT
#pragma once

#include "file/journal/file_loss.hpp"
#include "file/journal/file_retuning.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace iio_stream::file {

/// The content of the journal next to a data file (the writer's journal.hpp has the format).
struct JournalContents {
    std::size_t sample_bytes = 0;
    std::uint64_t part = 0;  ///< number in a series of files
    bool reserved = true;    ///< the file may be longer than its samples
    std::uint64_t bytes = 0; ///< known to be in the file
    std::optional<std::uint64_t>
        losses_final;                 ///< samples among which all losses are listed; empty: `bytes`
    std::optional<std::uint64_t> end; ///< there are no samples after it
    std::optional<std::uint64_t> first_index;
    bool first_exact = true;
    std::uint64_t bytes_before = 0; ///< of samples, that the part before it was given; 0: unknown
    std::vector<Loss> losses;
    std::optional<Settings> settings;   ///< of the first sample, if not the stream's
    std::vector<Retuned> retunings;     ///< without `between`, which needs the earlier settings
    std::optional<std::uint64_t> tuned; ///< samples among which all retunings are listed

    /// For a file whose metadata describe its first sample as `said`.
    Tunings tunings(const Settings& said) const;
};

/// nullopt if there is no journal. A torn line, and everything after it, is ignored.
std::optional<JournalContents> read_journal(const std::string& data);
/// The same from its text.
JournalContents parse_journal(const std::string& text);

/// Whether holes show which parts of the file were written.
enum class Holes { reported, unknown };

/// How many bytes of a data file are whole samples, not space reserved for more: up to its first
/// hole or, if holes are unknown, as far as the journal says. In a copy that has zeros in place of
/// holes, those at the end are reserved space, too, and pages of zeros before it are holes, but for
/// the ones that the journal knows.
std::uint64_t valid_bytes(int fd, const std::string& data,
                          const std::optional<JournalContents>& journal, std::size_t sample_bytes,
                          Holes holes);

} // namespace iio_stream::file
