// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/block.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace iio_stream::file {

/// What the journal beside a data file says (its writer's journal.hpp tells the format).
struct Leftover {
    std::size_t sample_bytes = 0;
    std::uint64_t bytes = 0; ///< that are known to be in the file
    std::vector<Gap> gaps;
};

/// nullopt where there is no journal. What is torn, and all behind it, is not said.
std::optional<Leftover> read_journal(const std::string& data);
/// The same from its text.
Leftover parse_journal(const std::string& text);

/// How many bytes of a data file are whole samples, and not holes that were reserved for more.
std::uint64_t valid_bytes(const std::string& data, const std::optional<Leftover>& journal,
                          std::size_t sample_bytes, bool may_have_holes);

} // namespace iio_stream::file
