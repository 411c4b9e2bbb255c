// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/uri.hpp"

#include <string>
#include <vector>

namespace iio_stream::serve {

std::string joined(const std::vector<std::string>& names); ///< separated by commas

/// The endpoint of these channels of a local device, not paired as I/Q.
Uri uri_of(const std::string& id, const std::vector<std::string>& channels);

} // namespace iio_stream::serve
