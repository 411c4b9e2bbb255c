// SPDX-License-Identifier: MIT
#pragma once

#include "cli/command.hpp"

#include <string>
#include <vector>

namespace iio_stream::cli {

/// A possible completion of a word, with a short explanation.
struct Candidate {
    std::string word, help;
};

/// Completes the last of these words, which follow "iio-stream" on a command line. A candidate that
/// ends in =, : or . is incomplete. Returns nothing if only a file name is possible.
std::vector<Candidate> complete(const std::vector<std::string>& words);

} // namespace iio_stream::cli
