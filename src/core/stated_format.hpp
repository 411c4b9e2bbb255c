// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/endpoint.hpp"

#include <string>

namespace iio_stream::detail {

/// format= channels= rate= for samples that do not say what they are. Without format= it is
/// `usual`; if that is empty, throws a usage Error made of `lacking` and `hint`.
Format stated_format(Options& options, const std::string& usual, const std::string& lacking,
                     const std::string& hint);

} // namespace iio_stream::detail
