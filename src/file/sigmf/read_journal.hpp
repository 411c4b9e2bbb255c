// SPDX-License-Identifier: MIT
#pragma once

#include "file/loss.hpp"
#include "file/tuning.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace iio_stream::file {

/// What the journal beside a data file says (its writer's journal.hpp tells the format).
struct JournalContents {
    std::size_t sample_bytes = 0;
    std::uint64_t part = 0;               ///< of a row of files
    std::uint64_t bytes = 0;              ///< that are known to be in the file
    std::optional<std::uint64_t> settled; ///< samples among which all losses are told; else `bytes`
    std::optional<std::uint64_t> end;     ///< no samples lie behind it
    std::optional<std::uint64_t> first_index;
    bool first_exact = true;
    std::vector<Loss> losses;
    std::optional<Settings> settings;   ///< of the first sample, where it is not the stream's
    std::vector<Retuned> retunings;     ///< without `between`, which needs the settings before
    std::optional<std::uint64_t> tuned; ///< samples among which all retunings are reported

    /// Of a file whose metadata say of its first sample what `said` is.
    Tunings tunings(const Settings& said) const;
};

/// nullopt where there is no journal. What is torn, and all behind it, is not said.
std::optional<JournalContents> read_journal(const std::string& data);
/// The same from its text.
JournalContents parse_journal(const std::string& text);

/// Who knows what of a file was written.
enum class Holes { reported, unknown };

/// How many bytes of a data file are whole samples, and not room that was reserved for more: up to
/// its first hole, or where those are unknown as far as the journal says.
std::uint64_t valid_bytes(int fd, const std::string& data, const std::optional<JournalContents>& journal,
                          std::size_t sample_bytes, Holes holes);

} // namespace iio_stream::file
