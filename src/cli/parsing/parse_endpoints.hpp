// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/endpoint.hpp"

#include <string>
#include <vector>

namespace iio_stream::cli {

/// Whether a word is an option of an endpoint: "gain=20" is, "dir/a=b.ci16" and "-" are not.
bool is_option(const std::string& word);

/// Parses the endpoints of a command line. Each endpoint is a word, and the key=value words after
/// it are its options. Throws a usage Error.
std::vector<Uri> parse_endpoints(const std::vector<std::string>& words);

/// Splits a command line at each "--and".
std::vector<std::vector<std::string>> split_at_and(const std::vector<std::string>& words);

} // namespace iio_stream::cli
