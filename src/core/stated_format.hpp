// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/endpoint.hpp"

#include <string>

namespace iio_stream::detail {

/// format= channels= rate= of samples that do not say what they are. Where format= is not given it is
/// `usual`; where that is empty, a usage Error of `lacking` and `hint`.
Format stated_format(Options& options, const std::string& usual, const std::string& lacking,
                     const std::string& hint);

} // namespace iio_stream::detail
