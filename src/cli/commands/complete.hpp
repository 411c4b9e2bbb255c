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

/// How the last of these words, which follow "iio-stream", may continue. One that ends in = or : is
/// incomplete. Nothing if it may be the name of a file.
std::vector<Candidate> complete(const std::vector<std::string>& words);

} // namespace iio_stream::cli
