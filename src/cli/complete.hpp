// SPDX-License-Identifier: MIT
#pragma once

#include "cli/command.hpp"

#include <string>
#include <vector>

namespace iio_stream::cli {

/// What a word of a command line may become, and a few words on it.
struct Candidate {
    std::string word, help;
};

/// How the last of these words, which follow "iio-stream", may go on. One that ends in = or : is not
/// whole yet. Nothing where it may be the name of a file.
std::vector<Candidate> complete(const std::vector<std::string>& words);

} // namespace iio_stream::cli
