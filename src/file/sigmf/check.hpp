// SPDX-License-Identifier: MIT
#pragma once

#include "file/sigmf/datatype.hpp"

#include <string>
#include <vector>

namespace iio_stream::file {

/// Problems of SigMF metadata by version 1.2.5 of the specification, and by the meaning of our own
/// keys; each names the key and its value. Empty: contents_of() can read them.
std::vector<std::string> problems_of(const Json& metadata);

/// Throws a storage Error with the first of them, if there are any.
void require_valid(const Json& metadata, const std::string& path);

} // namespace iio_stream::file
