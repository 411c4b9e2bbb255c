// SPDX-License-Identifier: MIT
#pragma once

#include "file/sigmf/datatype.hpp"

#include <string>
#include <vector>

namespace iio_stream::file {

/// What is wrong with SigMF metadata by the specification's version 1.2.5, and by what our own keys
/// mean; each names the key and its value. None: contents_of() can read them.
std::vector<std::string> problems_of(const Json& metadata);

/// Throws a storage Error with the first of them, if there are any.
void require_valid(const Json& metadata, const std::string& path);

} // namespace iio_stream::file
