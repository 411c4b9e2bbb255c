// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/uri.hpp"

#include <string>
#include <vector>

namespace iio_stream::serve {

std::string joined(const std::vector<std::string>& names); ///< by commas

/// These channels of a device of this machine, each by itself.
Uri uri_of(const std::string& id, const std::vector<std::string>& channels);

} // namespace iio_stream::serve
